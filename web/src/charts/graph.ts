// The network of one round: clients on a circle, domain by domain and in the same place every round, so that moving
// through the rounds shows what changes. Pointer and arrow keys pick a client and show its links alone.
import { html, svg } from "../dom";
import type { Graph, Link } from "../records";
import { domainColour, palette } from "../theme";
import { hideTooltip, showTooltip } from "../tooltip";
import { onWidth } from "./width";

export interface GraphSpec {
  graph: Graph;
  /** The domain of each client, by position. */
  domains: number[];
  /** Clients to be marked. */
  hostile: Set<number>;
  title: (client: number) => string;
  /** What to say of a client, under its name. */
  facts: (client: number) => { label: string; value: string }[];
  inWords: string;
}

const LARGEST = 560;
/** For the names outside the circle. */
const MARGIN = 36;

export class GraphChart {
  readonly element: HTMLElement;
  private readonly drawing = svg("svg", { class: "graph", tabindex: 0, role: "img" });
  private size = LARGEST;
  private spec: GraphSpec | null = null;
  private places: [number, number][] = [];
  private order: number[] = [];
  private picked: number | null = null;

  constructor() {
    this.element = html("div", { class: "graph-place" }, this.drawing);
    this.drawing.addEventListener("pointermove", (event) => this.onPointer(event));
    this.drawing.addEventListener("pointerleave", () => this.pick(null));
    this.drawing.addEventListener("blur", () => this.pick(null));
    this.drawing.addEventListener("keydown", (event) => this.onKey(event));
    onWidth(this.element, () => this.draw());
  }

  update(spec: GraphSpec): void {
    this.spec = spec;
    this.drawing.setAttribute("aria-label", spec.inWords);
    this.draw();
  }

  /** Around the circle from the top, with a gap where another domain begins. */
  private layOut(domains: number[]): void {
    this.order = domains.map((_, client) => client).sort((a, b) => domains[a]! - domains[b]! || a - b);
    const breaks = new Set(domains).size;
    const gap = breaks > 1 ? 0.8 : 0;
    const steps = domains.length + breaks * gap;
    let step = 0;
    this.order.forEach((client, i) => {
      if (i > 0 && domains[client] !== domains[this.order[i - 1]!]) step += gap;
      const angle = (2 * Math.PI * step) / steps - Math.PI / 2;
      this.places[client] = [this.size / 2 + this.radius * Math.cos(angle), this.size / 2 + this.radius * Math.sin(angle)];
      step += 1;
    });
  }

  private get radius(): number {
    return this.size / 2 - MARGIN;
  }

  private draw(): void {
    const { spec } = this;
    const width = Math.floor(this.element.clientWidth);
    if (!spec || width === 0) return;
    this.size = Math.min(width, LARGEST);
    this.drawing.setAttribute("width", String(this.size));
    this.drawing.setAttribute("height", String(this.size));
    this.layOut(spec.domains);
    const count = spec.domains.length;
    const dot = Math.max(2.5, Math.min(11, (Math.PI * this.radius) / Math.max(count, 1) / 1.5));
    const absent = new Set(spec.graph.absent ?? []);
    const links = (spec.graph.links ?? []).map((link) => this.link(link, "link"));
    const failed = (spec.graph.failed ?? []).map((link) => this.link(link, "link failed"));
    const nodes = spec.domains.map((domain, client) => this.node(client, domain, absent.has(client), dot));
    const names = count > 1.3 * this.radius / 3 ? [] : spec.domains.map((_, client) => this.name(client, dot));
    const marks = [...spec.hostile].map((client) => this.cross(client, dot));
    this.drawing.replaceChildren(svg("g", {}, ...links, ...failed), svg("g", {}, ...nodes), svg("g", {}, ...marks), svg("g", {}, ...names));
  }

  private link([u, v]: Link, kind: string): SVGElement | null {
    const from = this.places[u];
    const to = this.places[v];
    if (!from || !to) return null;
    // Bent towards the middle: straight chords between neighbours on the circle would hide behind the clients.
    const bend = (k: 0 | 1) => this.size / 2 + ((from[k] + to[k]) / 2 - this.size / 2) * 0.55;
    const isPicked = this.picked === u || this.picked === v;
    const state = this.picked === null ? "" : isPicked ? " picked" : " faded";
    const path = svg("path", {
      class: kind + state,
      d: `M${from.map(rounded)} Q${rounded(bend(0))},${rounded(bend(1))} ${to.map(rounded)}`,
    });
    if (isPicked && kind === "link") path.style.stroke = domainColour(this.spec!.domains[this.picked!]!);
    return path;
  }

  private node(client: number, domain: number, isAbsent: boolean, dot: number): SVGElement {
    const [x, y] = this.places[client]!;
    const colour = domainColour(domain);
    const isNear = this.picked === null || this.picked === client || this.isLinked(client);
    return svg("circle", {
      class: `client${isAbsent ? " absent" : ""}${isNear ? "" : " faded"}`,
      "data-client": client, cx: rounded(x), cy: rounded(y), r: rounded(this.picked === client ? dot * 1.25 : dot),
      fill: isAbsent ? palette().surface : colour, stroke: colour, "stroke-width": 2,
    });
  }

  /** Over a hostile client's dot. */
  private cross(client: number, dot: number): SVGElement | null {
    const place = this.places[client];
    if (!place) return null;
    const [x, y] = place;
    const arm = dot * 1.3;
    return svg("path", {
      class: "hostile-mark", "data-client": client, stroke: palette().ink, "stroke-width": 2.5, fill: "none",
      d: `M${rounded(x - arm)},${rounded(y - arm)} L${rounded(x + arm)},${rounded(y + arm)} M${rounded(x - arm)},${rounded(y + arm)} L${rounded(x + arm)},${rounded(y - arm)}`,
    });
  }

  private name(client: number, dot: number): SVGElement {
    const [x, y] = this.places[client]!;
    const out = 1 + (dot + 11) / this.radius;
    return svg("text", {
      class: "client-name", x: rounded(this.size / 2 + (x - this.size / 2) * out), y: rounded(this.size / 2 + (y - this.size / 2) * out),
      "text-anchor": "middle", "dominant-baseline": "central",
    }, String(client));
  }

  private isLinked(client: number): boolean {
    const joins = ([u, v]: Link) => (u === client && v === this.picked) || (v === client && u === this.picked);
    return (this.spec?.graph.links ?? []).some(joins) || (this.spec?.graph.failed ?? []).some(joins);
  }

  private pick(client: number | null): void {
    if (client === null) hideTooltip();
    if (client === this.picked) return;
    this.picked = client;
    this.draw();
    if (client === null || !this.spec) return;
    const box = this.drawing.getBoundingClientRect();
    const [x, y] = this.places[client]!;
    showTooltip(box.left + x + 8, box.top + y, this.spec.title(client), this.spec.facts(client));
  }

  private onPointer(event: PointerEvent): void {
    const client = (event.target as Element).getAttribute?.("data-client");
    this.pick(client === null ? null : Number(client));
  }

  private onKey(event: KeyboardEvent): void {
    const step = ({ ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 } as Record<string, number>)[event.key];
    if (event.key === "Escape") return this.pick(null);
    if (step === undefined || this.order.length === 0) return;
    event.preventDefault();
    const at = this.picked === null ? (step > 0 ? -1 : 0) : this.order.indexOf(this.picked);
    this.pick(this.order[(at + step + this.order.length) % this.order.length]!);
  }
}

function rounded(value: number): string {
  return value.toFixed(1);
}
