// A table of figures as colours, on a canvas: some runs have hundreds of clients and classes. Pointer and arrow keys
// read its cells.
import { html } from "../dom";
import { isOnPaper, palette, PAPER_HEIGHT, rampColour } from "../theme";
import { hideTooltip, showTooltip, type TooltipRow } from "../tooltip";
import { onWidth } from "./width";

export interface HeatSpec {
  rows: number;
  columns: number;
  /** The colour of a cell, from 0 to 1. */
  share: (row: number, column: number) => number;
  /** What to say of a cell. */
  title: (row: number, column: number) => string;
  facts: (row: number, column: number) => TooltipRow[];
  rowLabel: (row: number) => string;
  columnLabel: (column: number) => string;
  /** Rows and columns before which a line is drawn: where another domain begins. */
  rowBreaks?: number[];
  columnBreaks?: number[];
  columnGroups?: { first: number; last: number; label: string }[];
  inWords: string;
}

const FONT = "11px system-ui, sans-serif";
const TOP = 22;

export class HeatMap {
  readonly element: HTMLElement;
  private readonly canvas = html("canvas", { tabindex: 0, role: "img" });
  private spec: HeatSpec | null = null;
  private left = 0;
  private bottom = 0;
  private cell = { width: 1, height: 1 };
  private at: { row: number; column: number } | null = null;

  constructor() {
    this.element = html("div", { class: "heat" }, this.canvas);
    this.canvas.addEventListener("pointermove", (event) => this.onPointer(event));
    this.canvas.addEventListener("pointerleave", () => this.leave());
    this.canvas.addEventListener("blur", () => this.leave());
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    onWidth(this.element, () => this.draw());
  }

  update(spec: HeatSpec): void {
    this.spec = spec;
    this.canvas.setAttribute("aria-label", spec.inWords);
    this.draw();
  }

  private draw(): void {
    const { spec } = this;
    const width = Math.floor(this.element.clientWidth);
    if (!spec || width === 0) return;
    const brush = this.canvas.getContext("2d")!;
    brush.font = FONT;
    const labels = Array.from({ length: spec.rows }, (_, r) => shortened(brush, spec.rowLabel(r), width / 4));
    this.left = 10 + Math.max(0, ...labels.map((text) => brush.measureText(text).width));
    const columnNames = Array.from({ length: spec.columns }, (_, c) => spec.columnLabel(c));
    this.cell.width = (width - this.left) / spec.columns;
    this.cell.height = Math.min(Math.max(Math.min(this.cell.width, (isOnPaper() ? PAPER_HEIGHT : 1) * 480 / spec.rows), 3), 26);
    const longest = Math.max(0, ...columnNames.map((text) => brush.measureText(text).width));
    const lying = longest + 4 <= this.cell.width;
    const standing = !lying && this.cell.width >= 12;
    this.bottom = lying ? 18 : standing ? Math.min(longest, 90) + 10 : 0;
    this.size(width, TOP + this.cell.height * spec.rows + this.bottom);
    this.paintCells(brush, spec);
    this.paintLabels(brush, spec, labels, columnNames, lying, standing);
    if (this.at) this.paintCursor(brush);
  }

  private size(width: number, height: number): void {
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.canvas.getContext("2d")!.scale(ratio, ratio);
  }

  private paintCells(brush: CanvasRenderingContext2D, spec: HeatSpec): void {
    const { width, height } = this.cell;
    // A hair's breadth between cells where there is room for one.
    const gap = Math.min(width, height) >= 7 ? 1 : 0;
    for (let row = 0; row < spec.rows; row++) {
      for (let column = 0; column < spec.columns; column++) {
        brush.fillStyle = rampColour(spec.share(row, column));
        brush.fillRect(this.left + column * width, TOP + row * height, width - gap, height - gap);
      }
    }
    brush.fillStyle = palette().surface;
    for (const row of spec.rowBreaks ?? []) brush.fillRect(this.left, TOP + row * height - 1.5, spec.columns * width, 2);
    for (const column of spec.columnBreaks ?? []) {
      brush.fillRect(this.left + column * width - 1.5, TOP, 2, spec.rows * height);
    }
  }

  private paintLabels(brush: CanvasRenderingContext2D, spec: HeatSpec, rowNames: string[], columnNames: string[],
    lying: boolean, standing: boolean): void {
    const { width, height } = this.cell;
    brush.fillStyle = palette().muted;
    brush.font = FONT;
    brush.textBaseline = "middle";
    brush.textAlign = "right";
    const every = Math.max(1, Math.ceil(12 / height));
    rowNames.forEach((name, row) => {
      if (row % every === 0) brush.fillText(name, this.left - 6, TOP + (row + 0.5) * height);
    });
    brush.textAlign = "center";
    for (const group of spec.columnGroups ?? []) {
      const room = (group.last - group.first + 1) * width - 4;
      brush.fillText(shortened(brush, group.label, room), this.left + ((group.first + group.last + 1) / 2) * width, TOP / 2);
    }
    const base = TOP + spec.rows * height;
    if (lying) columnNames.forEach((name, c) => brush.fillText(name, this.left + (c + 0.5) * width, base + 10));
    if (standing) columnNames.forEach((name, c) => paintStanding(brush, name, this.left + (c + 0.5) * width, base, width));
  }

  private paintCursor(brush: CanvasRenderingContext2D): void {
    const { width, height } = this.cell;
    brush.strokeStyle = palette().ink;
    brush.lineWidth = 1.5;
    brush.strokeRect(this.left + this.at!.column * width, TOP + this.at!.row * height, width, height);
  }

  private show(row: number, column: number): void {
    const { spec } = this;
    if (!spec || row < 0 || column < 0 || row >= spec.rows || column >= spec.columns) return this.leave();
    if (this.at?.row !== row || this.at.column !== column) {
      this.at = { row, column };
      this.draw();
    }
    const box = this.canvas.getBoundingClientRect();
    showTooltip(box.left + this.left + (column + 1) * this.cell.width, box.top + TOP + (row + 0.5) * this.cell.height,
      spec.title(row, column), spec.facts(row, column));
  }

  private onPointer(event: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    this.show(Math.floor((event.clientY - box.top - TOP) / this.cell.height),
      Math.floor((event.clientX - box.left - this.left) / this.cell.width));
  }

  private onKey(event: KeyboardEvent): void {
    if (event.key === "Escape") return this.leave();
    const step = ({ ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] } as Record<string, [number, number]>)[event.key];
    if (!step || !this.spec) return;
    event.preventDefault();
    const { row, column } = this.at ?? { row: 0, column: 0 };
    const within = (value: number, count: number) => Math.min(Math.max(value, 0), count - 1);
    this.show(this.at ? within(row + step[0], this.spec.rows) : 0, this.at ? within(column + step[1], this.spec.columns) : 0);
  }

  private leave(): void {
    hideTooltip();
    if (!this.at) return;
    this.at = null;
    this.draw();
  }
}

/** Turned, unless it is short enough to be read as it is. */
function paintStanding(brush: CanvasRenderingContext2D, name: string, x: number, y: number, room: number): void {
  if (brush.measureText(name).width + 4 <= room) return brush.fillText(name, x, y + 10);
  brush.save();
  brush.textAlign = "right";
  brush.translate(x, y + 5);
  brush.rotate(-Math.PI / 2);
  brush.fillText(shortened(brush, name, 90), 0, 0);
  brush.restore();
}

function shortened(brush: CanvasRenderingContext2D, text: string, room: number): string {
  if (brush.measureText(text).width <= room) return text;
  let kept = text;
  while (kept.length > 0 && brush.measureText(`${kept}…`).width > room) kept = kept.slice(0, -1);
  return kept ? `${kept}…` : "";
}
