// One merge seen from above: the prompts of a neighbourhood and the merged ones on their two principal axes, joined by
// the transport plan. Both axes have the same scale, so that near is near.
import { html, svg } from "../dom";
import type { Merge, Point } from "../records";
import { palette, seriesColour } from "../theme";
import { hideTooltip, showTooltip, type TooltipRow } from "../tooltip";
import { onWidth } from "./width";

const MARGIN = 34;

type Place = (point: Point) => [number, number];

export class PlaneChart {
  readonly element: HTMLElement;
  private readonly drawing = svg("svg", { class: "plane", tabindex: 0, role: "img" });
  private width = 0;
  private height = 0;
  private merge: Merge | null = null;
  /** The merged prompt whose links are shown alone. */
  private picked: number | null = null;

  constructor() {
    this.element = html("div", { class: "plane-place" }, this.drawing);
    this.drawing.addEventListener("pointermove", (event) => this.onPointer(event));
    this.drawing.addEventListener("pointerleave", () => this.pick(null));
    this.drawing.addEventListener("blur", () => this.pick(null));
    this.drawing.addEventListener("keydown", (event) => this.onKey(event));
    onWidth(this.element, () => this.draw());
  }

  update(merge: Merge, inWords: string): void {
    this.merge = merge;
    this.picked = null;
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
    const place = fit([...senders.flatMap((s) => s.points), ...merged], this.width, this.height);
    const dead = new Set(merge.dead ?? []);
    this.drawing.replaceChildren(
      svg("g", {}, ...this.axes(merge)),
      svg("g", {}, ...this.links(merge, place)),
      svg("g", {}, ...senders.flatMap((sender, s) => sender.points.map((point, i) => this.sent(s, i, place(point))))),
      svg("g", {}, ...merged.map((point, i) => this.summary(i, place(point), dead.has(i)))),
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
    const size = this.picked === index ? 12 : 10;
    return svg("g", { class: `merged${isDead ? " dead" : ""}`, "data-merged": index },
      svg("path", {
        d: `M${x.toFixed(1)},${(y - size).toFixed(1)} l${size},${size} l${-size},${size} l${-size},${-size} Z`,
        fill: isDead ? surface : ink, stroke: isDead ? ink : surface, "stroke-width": 1.5,
        "stroke-dasharray": isDead ? "3 2" : null, "data-merged": index,
      }),
      svg("text", {
        x: x.toFixed(1), y: y.toFixed(1), "text-anchor": "middle", "dominant-baseline": "central",
        fill: isDead ? ink : surface, "data-merged": index,
      }, String(index)));
  }

  private pick(merged: number | null): void {
    if (merged === null) hideTooltip();
    if (merged === this.picked) return;
    this.picked = merged;
    this.draw();
    if (merged === null || !this.merge) return;
    const mark = this.drawing.querySelector(`.merged[data-merged="${merged}"]`)!.getBoundingClientRect();
    showTooltip(mark.right, (mark.top + mark.bottom) / 2, `Merged prompt ${merged}`, originsOf(this.merge, merged));
  }

  private onPointer(event: PointerEvent): void {
    const target = event.target as Element;
    const merged = target.getAttribute?.("data-merged");
    if (merged !== null && merged !== undefined) return this.pick(Number(merged));
    this.pick(null);
    const sender = target.getAttribute?.("data-sender");
    if (!this.merge || sender === null || sender === undefined) return;
    const prompt = Number(target.getAttribute("data-prompt"));
    const rows = (this.merge.plan ?? []).filter((p) => p[0] === Number(sender) && p[1] === prompt)
      .sort((a, b) => b[3] - a[3])
      .map((p) => ({ label: `to merged prompt ${p[2]}`, value: `${(100 * p[3]).toFixed(0)} %` }));
    showTooltip(event.clientX, event.clientY, `Client ${this.merge.senders?.[Number(sender)]?.client}, prompt ${prompt}`, rows);
  }

  private onKey(event: KeyboardEvent): void {
    const step = ({ ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 } as Record<string, number>)[event.key];
    const count = this.merge?.merged?.length ?? 0;
    if (event.key === "Escape") return this.pick(null);
    if (step === undefined || count === 0) return;
    event.preventDefault();
    this.pick(this.picked === null ? 0 : (this.picked + step + count) % count);
  }
}

/** Where a merged prompt's mass comes from, the largest shares first. */
function originsOf(merge: Merge, merged: number): TooltipRow[] {
  const plan = (merge.plan ?? []).filter((p) => p[2] === merged).sort((a, b) => b[3] - a[3]);
  const rows = plan.slice(0, 8).map(([sender, prompt, , mass]) => ({
    colour: seriesColour(sender),
    label: `client ${merge.senders?.[sender]?.client}, prompt ${prompt}`,
    value: `${(100 * mass).toFixed(0)} %`,
  }));
  if (plan.length === 0) return [{ label: "no mass went to it: dead" }];
  return plan.length > 8 ? [...rows, { label: `and ${plan.length - 8} more`, colour: "", value: "" }] : rows;
}

function fit(points: Point[], width: number, height: number): Place {
  const bounds = (k: 0 | 1): [number, number] => [Math.min(...points.map((p) => p[k])), Math.max(...points.map((p) => p[k]))];
  const [left, right] = bounds(0);
  const [bottom, top] = bounds(1);
  const scale = Math.min((width - 2 * MARGIN) / (right - left || 1e-12), (height - 2 * MARGIN) / (top - bottom || 1e-12));
  const usable = Number.isFinite(scale) && right + top - left - bottom > 0 ? scale : 1;
  return ([x, y]) => [
    width / 2 + 4 + (x - (left + right) / 2) * usable,
    height / 2 - 4 - (y - (bottom + top) / 2) * usable,
  ];
}
