// Names the curves and switches them on and off.
import { html, svg } from "../dom";

/** How something looks in a chart. */
export interface Look {
  colour: string;
  dash?: number[];
  /** What stands for it, instead of a line: a square for areas and dots, a diamond for merged prompts. */
  mark?: "square" | "diamond";
}

export interface LegendEntry extends Look {
  key: string;
  label: string;
}

/** A sample of it, to stand before its name. */
export function swatch(entry: Look): SVGElement {
  const marks = {
    square: () => svg("rect", { x: 1, y: 1, width: 12, height: 12, rx: 3, fill: entry.colour }),
    diamond: () => svg("path", { d: "M7,1 l6,6 l-6,6 l-6,-6 Z", fill: "none", stroke: entry.colour, "stroke-width": 1.6 }),
    line: () => svg("line", {
      x1: 1, y1: 7, x2: 25, y2: 7, stroke: entry.colour, "stroke-width": 3,
      "stroke-dasharray": entry.dash?.length ? entry.dash.join(" ") : null,
    }),
  };
  return svg("svg", { class: "swatch", width: entry.mark ? 14 : 26, height: 14, "aria-hidden": "true" }, marks[entry.mark ?? "line"]());
}

/** A legend to read. */
export function plainLegend(entries: LegendEntry[]): HTMLElement {
  return html("ul", { class: "legend" }, ...entries.map((e) => html("li", {}, swatch(e), html("span", {}, e.label))));
}

/** A legend of switches; a hidden curve's button is not pressed. Focus stays on the button that was used. */
export class ToggleLegend {
  readonly element = html("div", { class: "legend toggles", role: "group", "aria-label": "Curves shown" });

  constructor(private readonly hidden: Set<string>, private readonly onToggle: () => void) {}

  update(entries: LegendEntry[]): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset?.key;
    this.element.replaceChildren(...entries.map((entry) => this.button(entry)));
    for (const button of this.element.querySelectorAll("button")) if (button.dataset.key === focused) button.focus();
  }

  private button(entry: LegendEntry): HTMLElement {
    const button = html("button", { type: "button", "data-key": entry.key, "aria-pressed": String(!this.hidden.has(entry.key)) },
      swatch(entry), html("span", {}, entry.label));
    button.addEventListener("click", () => {
      if (!this.hidden.delete(entry.key)) this.hidden.add(entry.key);
      this.onToggle();
    });
    return button;
  }
}
