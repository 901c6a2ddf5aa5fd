// The one floating box that names the figures under the pointer or the keyboard's cursor.
import { html } from "./dom";

const box = html("div", { class: "tooltip", role: "status", hidden: true });

export interface TooltipRow {
  colour?: string;
  label: string;
  value?: string;
}

/** Shows the rows beside a point of the window, on the side that has room. */
export function showTooltip(x: number, y: number, title: string, rows: TooltipRow[]): void {
  if (!box.isConnected) document.body.append(box);
  box.replaceChildren(
    html("strong", {}, title),
    ...rows.map((row) => {
      const swatch = html("i", {});
      if (row.colour) swatch.style.background = row.colour;
      else swatch.hidden = true;
      return html("div", {}, swatch, html("span", {}, row.label), row.value !== undefined && html("b", {}, row.value));
    }),
  );
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = x + 14 + width > document.documentElement.clientWidth ? x - 14 - width : x + 14;
  box.style.left = `${Math.max(left, 4)}px`;
  box.style.top = `${Math.min(Math.max(y - height / 2, 4), window.innerHeight - height - 4)}px`;
}

export function hideTooltip(): void {
  box.hidden = true;
}
