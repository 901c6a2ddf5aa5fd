// Curves (or stacked bars) over rounds, drawn by uPlot: bands, dashes, log scale, and a cursor that pointer and arrow
// keys move. A chart is drawn anew on every update; that takes a few milliseconds and keeps no stale state.
import uPlot from "uplot";
import { html } from "../dom";
import { isNumber } from "../format";
import type { Figure } from "../records";
import { faded, isOnPaper, PAPER_HEIGHT, palette } from "../theme";
import { hideTooltip, showTooltip } from "../tooltip";
import { onWidth } from "./width";

export interface Line {
  label: string;
  values: Figure[];
  colour: string;
  dash?: number[];
  width?: number;
  /** Shaded ranges around the line, the widest first. */
  bands?: { low: Figure[]; high: Figure[]; alpha: number }[];
}

export interface LineSpec {
  x: number[];
  lines: Line[];
  format: (value: Figure) => string;
  /** How the axis writes it, where that is shorter. */
  tick?: (value: Figure) => string;
  /** Logarithmic; what is not positive is left out. */
  log?: boolean;
  /** The lines are parts of a whole and stand on each other. */
  stacked?: boolean;
  height?: number;
  /** The axis counts things. */
  whole?: boolean;
  /** The lowest and highest value that the axis always reaches. */
  atLeast?: [number, number];
  empty?: string;
}

type Values = (number | null)[];

const WHOLE_STEPS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10000];

export class LineChart {
  readonly element: HTMLElement;
  private readonly place = html("div", { class: "plot", tabindex: 0, role: "img" });
  private plot: uPlot | null = null;
  private spec: LineSpec = { x: [], lines: [], format: String };
  private isHovered = false;

  constructor(private readonly label: string, className = "") {
    this.element = html("div", { class: `chart ${className}` }, this.place);
    this.place.addEventListener("pointerenter", () => (this.isHovered = true));
    this.place.addEventListener("pointerleave", () => this.leave());
    this.place.addEventListener("blur", () => this.leave());
    this.place.addEventListener("keydown", (event) => this.onKey(event));
    onWidth(this.place, () => this.draw());
  }

  update(spec: LineSpec): void {
    this.spec = spec;
    this.draw();
  }

  private draw(): void {
    const width = Math.floor(this.place.clientWidth);
    if (width === 0) return;
    const readAt = this.isRead() ? this.plot?.cursor.idx : null;
    this.plot?.destroy();
    this.plot = null;
    const { x, lines, log } = this.spec;
    const usable = (v: Figure) => isNumber(v) && (!log || v > 0);
    const isEmpty = x.length === 0 || !lines.some((line) => line.values.some(usable));
    this.element.classList.toggle("empty", isEmpty);
    if (isEmpty) {
      this.place.replaceChildren(html("p", { class: "nothing" }, this.spec.empty ?? "Nothing recorded yet."));
      this.place.setAttribute("aria-label", `${this.label}: nothing to show`);
      return;
    }
    this.place.replaceChildren();
    this.place.setAttribute("aria-label", this.inWords());
    const { data, series, bands } = assemble(this.spec);
    const options = this.options(width, series, bands);
    // Someone who reads a live chart goes on reading the same round.
    if (readAt !== null && readAt !== undefined) options.hooks!.ready = [() => this.moveTo(readAt)];
    this.plot = new uPlot(options, data, this.place);
  }

  private inWords(): string {
    const { x, lines, format } = this.spec;
    const ends = lines.map((line) => `${line.label} ${format(lastOf(line.values))}`).join(", ");
    return `${this.label}, rounds ${x[0]} to ${x[x.length - 1]}. At the end: ${ends}. Arrow keys read the rounds.`;
  }

  private options(width: number, series: uPlot.Series[], bands: uPlot.Band[]): uPlot.Options {
    const { muted, faint, surface } = palette();
    const { x, log, stacked, whole, atLeast, format } = this.spec;
    const axis = { stroke: muted, font: "12px system-ui, sans-serif", ticks: { show: false } };
    // uPlot takes a key that is there but undefined for a function.
    const filter = log ? { filter: roundPowers } : {};
    const [first, last] = [x[0]!, x[x.length - 1]!];
    // Half a step of room for bars, and room for a single round to be a point in the middle.
    const margin = stacked || first === last ? 0.6 : (last - first) * 0.01;
    return {
      width,
      height: Math.round((this.spec.height ?? 240) * (isOnPaper() ? PAPER_HEIGHT : 1)),
      padding: [10, 8, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: false, y: false },
        sync: { key: "rounds", setSeries: false },
        points: { size: 7, width: 2, fill: surface },
      },
      scales: {
        x: { time: false, range: [first - margin, last + margin] },
        y: log ? { distr: 3, log: 10 } : { range: (_, low, high) => linearRange(low, high, atLeast ?? (stacked ? [0, 0] : undefined)) },
      },
      axes: [
        {
          ...axis, grid: { show: false }, size: 24, space: 44, gap: 6, incrs: WHOLE_STEPS,
          label: "round", labelSize: 18, labelGap: 0, labelFont: axis.font,
        },
        {
          ...axis,
          grid: { stroke: faint, width: 1, ...filter },
          ...filter,
          ...(whole ? { incrs: WHOLE_STEPS } : {}),
          gap: 6,
          space: 34,
          size: (_, values) => 16 + 6.6 * Math.max(3, ...(values ?? []).map((v) => (v ?? "").length)),
          values: (_, ticks) => ticks.map((v) => (v === null ? "" : (this.spec.tick ?? format)(v))),
        },
      ],
      series,
      bands,
      hooks: { setCursor: [(plot) => this.onCursor(plot)], drawSeries: x.length === 1 ? [(plot, i) => drawAlone(plot, bands.find((band) => band.series[1] === i))] : [] },
    };
  }

  private onCursor(plot: uPlot): void {
    const index = plot.cursor.idx;
    if (!this.isRead()) return;
    const { x, lines, format } = this.spec;
    if (index === null || index === undefined || x[index] === undefined) return hideTooltip();
    const box = plot.over.getBoundingClientRect();
    const rows = lines.filter((line) => isNumber(line.values[index]))
      .map((line) => ({ colour: line.colour, label: line.label, value: format(line.values[index]) }));
    const y = this.isHovered ? (plot.cursor.top ?? 0) : box.height / 3;
    showTooltip(box.left + plot.valToPos(x[index], "x"), box.top + y, `Round ${x[index]}`, rows);
  }

  private onKey(event: KeyboardEvent): void {
    const { plot } = this;
    const last = this.spec.x.length - 1;
    if (!plot || last < 0) return;
    const at = plot.cursor.idx;
    const steps: Record<string, number> = {
      ArrowLeft: (at ?? last + 1) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: last,
    };
    if (event.key === "Escape") return this.leave();
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.moveTo(Math.min(Math.max(next, 0), last));
  }

  private moveTo(index: number): void {
    const x = this.spec.x[index];
    if (this.plot && x !== undefined) this.plot.setCursor({ left: this.plot.valToPos(x, "x"), top: 0 });
  }

  private isRead(): boolean {
    return this.isHovered || document.activeElement === this.place;
  }

  private leave(): void {
    this.isHovered = false;
    this.plot?.setCursor({ left: -10, top: -10 });
    hideTooltip();
  }
}

/** Between rounds a band is an area; of a single round it is a bar behind the point. */
function drawAlone(plot: uPlot, band: uPlot.Band | undefined): void {
  const [high, low] = (band?.series ?? []).map((column) => plot.data[column]?.[0]);
  if (!band || !isNumber(high) || !isNumber(low)) return;
  const width = 16 * (window.devicePixelRatio || 1);
  const [top, bottom] = [plot.valToPos(high, "y", true), plot.valToPos(low, "y", true)];
  plot.ctx.fillStyle = band.fill as string;
  plot.ctx.fillRect(plot.valToPos(plot.data[0][0]!, "x", true) - width / 2, top, width, bottom - top);
}

function lastOf(values: Figure[]): Figure {
  for (let i = values.length - 1; i >= 0; i--) if (isNumber(values[i])) return values[i];
  return null;
}

/** Lines of a log scale worth drawing: 1, 2 and 5 of each decade, or its beginning alone where they would crowd. */
function roundPowers(plot: uPlot, ticks: number[]): (number | null)[] {
  const decades = Math.log10(ticks[ticks.length - 1]! / ticks[0]!);
  const pixels = plot.bbox.height / (window.devicePixelRatio || 1);
  const leading = pixels < 46 * decades ? "1" : "125";
  return ticks.map((tick) => (leading.includes(tick.toExponential(0)[0]!) ? tick : null));
}

function linearRange(low: number, high: number, atLeast?: [number, number]): [number, number] {
  const bottom = Math.min(low, atLeast?.[0] ?? low);
  const top = Math.max(high, atLeast?.[1] ?? high);
  if (bottom === top) return [bottom - Math.abs(bottom || 1) * 0.1, top + Math.abs(top || 1) * 0.1];
  const margin = (top - bottom) * 0.06;
  return [bottom === 0 || bottom === atLeast?.[0] ? bottom : bottom - margin, top === atLeast?.[1] ? top : top + margin];
}

/** uPlot's columns: each line after the bounds of its bands; for stacked lines their running sums, the tallest first. */
function assemble({ x, lines, log, stacked }: LineSpec) {
  const data: [number[], ...Values[]] = [x];
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  const clean = (values: Figure[]): Values => values.map((v) => (isNumber(v) && (!log || v > 0) ? v : null));
  if (stacked) {
    const sums = x.map(() => 0);
    for (const line of lines) {
      data.splice(1, 0, line.values.map((v, i) => (sums[i]! += isNumber(v) ? v : 0)));
      series.splice(1, 0, { fill: line.colour, width: 0, points: { show: false }, paths: uPlot.paths.bars!({ size: [0.82, 36], align: 0 }) });
    }
    return { data, series, bands };
  }
  const hidden: uPlot.Series = { stroke: "transparent", width: 0, spanGaps: true, points: { show: false } };
  for (const line of lines) {
    for (const band of line.bands ?? []) {
      data.push(clean(band.high), clean(band.low));
      bands.push({ series: [series.length, series.length + 1], fill: faded(line.colour, band.alpha) });
      series.push({ ...hidden }, { ...hidden });
    }
    data.push(clean(line.values));
    series.push({
      stroke: line.colour, width: line.width ?? 2, dash: line.dash, spanGaps: true,
      points: { show: x.length <= 24, size: x.length === 1 ? 9 : 5, fill: line.colour },
    });
  }
  return { data, series, bands };
}
