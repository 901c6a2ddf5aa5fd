// One merge seen from above: the prompts of a neighbourhood and the merged ones on their two principal axes, joined by
// the transport plan. Both axes have the same scale, so that near is near. Prompts that began alike lie on top of each
// other from afar: a click on a merged prompt, or Enter, goes near it.
import { clientName, clientTitle } from "../clients";
import { html, svg } from "../dom";
import type { Merge, Point, Run } from "../records";
import { significant } from "../format";
import { palette, seriesColour } from "../theme";
import { hideTooltip, showTooltip, type TooltipRow } from "../tooltip";
import { onWidth } from "./width";

/** Above there is room for the ruler, below for the name of an axis. */
const MARGIN = { side: 34, top: 54, bottom: 36 };

type Place = (point: Point) => [number, number];

export class PlaneChart {
  readonly element: HTMLElement;
  private readonly drawing = svg("svg", { class: "plane", tabindex: 0, role: "img" });
  private width = 0;
  private height = 0;
  private about: Run["about"];
  private merge: Merge | null = null;
  /** The merged prompt whose links are shown alone. */
  private picked: number | null = null;
  /** The merged prompt that is looked at from near. */
  private near: number | null = null;

  constructor() {
    this.element = html("div", { class: "plane-place" }, this.drawing);
    this.drawing.addEventListener("pointermove", (event) => this.onPointer(event));
    this.drawing.addEventListener("click", (event) => this.onClick(event));
    this.drawing.addEventListener("pointerleave", () => this.pick(null));
    this.drawing.addEventListener("blur", () => this.pick(null));
    this.drawing.addEventListener("keydown", (event) => this.onKey(event));
    onWidth(this.element, () => this.draw());
  }

  update(about: Run["about"], merge: Merge, inWords: string): void {
    if (merge.round !== this.merge?.round || merge.client !== this.merge.client) this.near = this.picked = null;
    this.about = about;
    this.merge = merge;
    this.drawing.setAttribute("aria-label", inWords);
    this.draw();
  }

  private draw(): void {
    const { merge } = this;
    this.width = Math.floor(this.element.clientWidth);
    if (!merge || this.width === 0) return;
    this.height = Math.min(Math.max(Math.round(this.width * 0.55), 300), 540);
    this.drawing.setAttribute("width", String(this.width));
    this.drawing.setAttribute("height", String(this.height));
    const senders = merge.senders ?? [];
    const merged = merge.merged ?? [];
    const seen = this.near === null ? [...senders.flatMap((s) => s.points), ...merged] : pointsNear(merge, this.near);
    const { place, scale } = fit(seen, this.width, this.height);
    const dead = new Set(merge.dead ?? []);
    this.drawing.replaceChildren(
      svg("g", {}, ...this.axes(merge), ...this.ruler(scale)),
      svg("g", {}, ...this.links(merge, place)),
      svg("g", {}, ...merged.map((point, i) => this.summary(i, place(point), dead.has(i)))),
      svg("g", {}, ...senders.flatMap((sender, s) => sender.points.map((point, i) => this.sent(s, i, place(point))))),
      svg("g", {}, ...merged.map((point, i) => this.number(i, place(point)))),
    );
  }

  private axes(merge: Merge): SVGElement[] {
    const share = (k: number) => {
      const v = merge.variance?.[k];
      return typeof v === "number" ? `, ${(100 * v).toFixed(0)} % of the variance` : "";
    };
    return [
      svg("path", { class: "axis", d: `M12,${this.height - 22} H${this.width - 12} M22,12 V${this.height - 12}` }),
      svg("text", { class: "axis-name", x: this.width - 12, y: this.height - 8, "text-anchor": "end" }, `first axis${share(0)}`),
      svg("text", { class: "axis-name", x: 14, y: 14, "text-anchor": "end", transform: "rotate(-90 14 14)" }, `second axis${share(1)}`),
    ];
  }

  /** A bar of a round length, some eighth of the width. */
  private ruler(scale: number): SVGElement[] {
    const wanted = this.width / 8 / scale;
    const power = 10 ** Math.floor(Math.log10(wanted));
    const length = power * ([5, 2, 1].find((step) => step * power <= wanted) ?? 1);
    const right = this.width - 14;
    return [
      svg("path", { class: "ruler", d: `M${right},14 v8 h${(-length * scale).toFixed(1)} v-8` }),
      svg("text", { class: "axis-name", x: right - (length * scale) / 2, y: 38, "text-anchor": "middle" }, significant(length)),
    ];
  }

  private links(merge: Merge, place: Place): SVGElement[] {
    const drawn: SVGElement[] = [];
    for (const [sender, prompt, target, mass] of merge.plan ?? []) {
      const from = merge.senders?.[sender]?.points[prompt];
      const to = merge.merged?.[target];
      if (!from || !to) continue;
      const [x1, y1] = place(from);
      const [x2, y2] = place(to);
      const isFaded = this.picked !== null && this.picked !== target;
      drawn.push(svg("line", {
        class: "mass", x1: x1.toFixed(1), y1: y1.toFixed(1), x2: x2.toFixed(1), y2: y2.toFixed(1),
        stroke: seriesColour(sender), "stroke-width": (0.6 + 1.6 * mass).toFixed(2),
        "stroke-opacity": (isFaded ? 0.06 : 0.15 + 0.6 * mass).toFixed(2),
      }));
    }
    return drawn;
  }

  private sent(sender: number, prompt: number, [x, y]: [number, number]): SVGElement {
    const isOwn = sender === 0;
    return svg("circle", {
      class: "sent", "data-sender": sender, "data-prompt": prompt, cx: x.toFixed(1), cy: y.toFixed(1), r: isOwn ? 5.5 : 4.5,
      fill: seriesColour(sender), stroke: palette().surface, "stroke-width": 1,
    });
  }

  private summary(index: number, [x, y]: [number, number], isDead: boolean): SVGElement {
    const { ink, surface } = palette();
    const size = this.picked === index ? 13 : 11;
    return svg("path", {
      class: `merged${isDead ? " dead" : ""}`, "data-merged": index,
      d: `M${x.toFixed(1)},${(y - size).toFixed(1)} l${size},${size} l${-size},${size} l${-size},${-size} Z`,
      fill: surface, stroke: ink, "stroke-width": this.picked === index ? 2.6 : 1.8, "stroke-dasharray": isDead ? "3 2" : null,
    });
  }

  /** Above everything else, or the dots of a crowded place would hide it. */
  private number(index: number, [x, y]: [number, number]): SVGElement {
    return svg("text", { class: "number", x: (x + 14).toFixed(1), y: (y - 9).toFixed(1), fill: palette().ink }, String(index));
  }

  private pick(merged: number | null): void {
    if (merged === null) hideTooltip();
    if (merged === this.picked) return;
    this.picked = merged;
    this.draw();
    if (merged === null || !this.merge) return;
    const mark = this.drawing.querySelector(`.merged[data-merged="${merged}"]`)!.getBoundingClientRect();
    showTooltip(mark.right, (mark.top + mark.bottom) / 2, `Merged prompt ${merged}`, originsOf(this.about, this.merge, merged));
  }

  private onPointer(event: PointerEvent): void {
    const { merged, sender, prompt } = (event.target as SVGElement).dataset;
    if (merged !== undefined) return this.pick(Number(merged));
    this.pick(null);
    if (!this.merge || sender === undefined) return;
    const rows = this.targetsOf(Number(sender), Number(prompt))
      .map((p) => ({ label: `to merged prompt ${p[2]}`, value: `${(100 * p[3]).toFixed(0)} %` }));
    showTooltip(event.clientX, event.clientY, `${clientTitle(this.about, senderOf(this.merge, Number(sender)))}, prompt ${prompt}`, rows);
  }

  /** On a diamond, or on a dot that belongs to one; from near, any click comes back. */
  private onClick(event: MouseEvent): void {
    const { merged, sender, prompt } = (event.target as SVGElement).dataset;
    if (this.near !== null) return this.goNear(null);
    if (merged !== undefined) return this.goNear(Number(merged));
    if (sender !== undefined) this.goNear(this.targetsOf(Number(sender), Number(prompt))[0]?.[2] ?? null);
  }

  /** Where a prompt's mass went, the largest share first. */
  private targetsOf(sender: number, prompt: number) {
    return (this.merge?.plan ?? []).filter((p) => p[0] === sender && p[1] === prompt).sort((a, b) => b[3] - a[3]);
  }

  private goNear(merged: number | null): void {
    if (merged === this.near) return;
    this.near = merged;
    this.picked = null;
    hideTooltip();
    this.draw();
  }

  private onKey(event: KeyboardEvent): void {
    const step = ({ ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 } as Record<string, number>)[event.key];
    const count = this.merge?.merged?.length ?? 0;
    if (event.key === "Enter" && this.picked !== null) return this.goNear(this.near === null ? this.picked : null);
    if (event.key === "Escape") return this.near === null ? this.pick(null) : this.goNear(null);
    if (step === undefined || count === 0) return;
    event.preventDefault();
    this.pick(this.picked === null ? 0 : (this.picked + step + count) % count);
  }
}

function senderOf(merge: Merge, position: number): number {
  return merge.senders?.[position]?.client ?? position;
}

/** Where a merged prompt's mass comes from, the largest shares first. */
function originsOf(about: Run["about"], merge: Merge, merged: number): TooltipRow[] {
  const plan = (merge.plan ?? []).filter((p) => p[2] === merged).sort((a, b) => b[3] - a[3]);
  const rows = plan.slice(0, 8).map(([sender, prompt, , mass]) => ({
    colour: seriesColour(sender),
    label: `${clientName(about, senderOf(merge, sender))}, prompt ${prompt}`,
    value: `${(100 * mass).toFixed(0)} %`,
  }));
  if (plan.length === 0) return [{ label: "no mass went to it: dead" }];
  return plan.length > 8 ? [...rows, { label: `and ${plan.length - 8} more`, colour: "", value: "" }] : rows;
}

/** A merged prompt and the prompts that sent it most of their mass. */
function pointsNear(merge: Merge, merged: number): Point[] {
  const sent = (merge.plan ?? []).flatMap(([sender, prompt, target, mass]) => {
    const point = merge.senders?.[sender]?.points[prompt];
    return target === merged && mass >= 0.5 && point ? [point] : [];
  });
  return [merge.merged![merged]!, ...sent];
}

function fit(points: Point[], width: number, height: number): { place: Place; scale: number } {
  const bounds = (k: 0 | 1): [number, number] => [Math.min(...points.map((p) => p[k])), Math.max(...points.map((p) => p[k]))];
  const [left, right] = bounds(0);
  const [bottom, top] = bounds(1);
  const room = { x: width - 2 * MARGIN.side, y: height - MARGIN.top - MARGIN.bottom };
  const widest = Math.max((right - left) / room.x, (top - bottom) / room.y);
  const scale = widest > 0 && Number.isFinite(widest) ? 1 / widest : 1;
  const place: Place = ([x, y]) => [
    width / 2 + 4 + (x - (left + right) / 2) * scale,
    MARGIN.top + room.y / 2 - (y - (bottom + top) / 2) * scale,
  ];
  return { place, scale };
}
