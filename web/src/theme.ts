// Light and dark, and the colours that mean something. Curves differ by dash as well as by colour; the hues start from
// those of Okabe and Ito, and any two are apart to every kind of colour vision (tests/access.test.mjs measures it).

export type Theme = "light" | "dark";

interface Palette {
  series: string[];
  ink: string;
  muted: string;
  faint: string;
  surface: string;
  /** The two ends of a heat map: nothing, and the most. */
  ramp: [number, number, number][];
}

const LIGHT: Palette = {
  series: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#043767", "#757146"],
  ink: "#1c2430",
  muted: "#5c6675",
  faint: "#e4e8ee",
  surface: "#ffffff",
  ramp: [[240, 244, 249], [134, 186, 222], [0, 98, 160], [4, 40, 78]],
};

const DARK: Palette = {
  series: ["#3d8fd0", "#e0672c", "#4ac977", "#ff8fbd", "#dbc600", "#d2ddff", "#92b5fe", "#857f7d"],
  ink: "#e8ecf2",
  muted: "#98a3b3",
  faint: "#2a323d",
  surface: "#161b22",
  ramp: [[27, 34, 43], [22, 74, 112], [62, 152, 212], [205, 234, 255]],
};

const DASHES: number[][] = [[], [7, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 2], [12, 4], [6, 2, 2, 2, 2, 2]];

const systemDark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners: (() => void)[] = [];
let chosen: Theme | null = null;
let printing = false;

export function theme(): Theme {
  if (printing) return "light";
  return chosen ?? (systemDark.matches ? "dark" : "light");
}

export function palette(): Palette {
  return theme() === "dark" ? DARK : LIGHT;
}

export function onThemeChange(listener: () => void): void {
  listeners.push(listener);
}

function apply(): void {
  document.documentElement.dataset.theme = theme();
  for (const listener of listeners) listener();
}

export function toggleTheme(): void {
  chosen = theme() === "dark" ? "light" : "dark";
  apply();
}

/** Of a picture, compared with the screen: so that more of them share a page. */
export const PAPER_HEIGHT = 0.72;

export function isOnPaper(): boolean {
  return printing;
}

/** Paper is white: what is drawn for it is drawn in the light colours. */
export function setPrinting(on: boolean): void {
  printing = on;
  apply();
}

export function startTheme(): void {
  systemDark.addEventListener("change", apply);
  apply();
}

/** The colour of the i-th method or run. */
export function seriesColour(i: number): string {
  const { series } = palette();
  return series[i % series.length]!;
}

/** Domains start elsewhere in the palette, so that a domain is not taken for a method. */
export function domainColour(i: number): string {
  return seriesColour([1, 2, 3, 5, 4, 0, 6, 7][i % 8]!);
}

export function dash(i: number): number[] {
  // Where the colours begin anew the dashes are shifted, so that no two of the first 64 curves look the same.
  return DASHES[(i + Math.floor(i / DASHES.length)) % DASHES.length]!;
}

/** The colour of a share between 0 (nothing) and 1 (the most) in a heat map. */
export function rampColour(share: number): string {
  const { ramp } = palette();
  const position = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
  const low = Math.min(Math.floor(position), ramp.length - 2);
  const mix = (k: number) => Math.round(ramp[low]![k]! + (ramp[low + 1]![k]! - ramp[low]![k]!) * (position - low));
  return `rgb(${mix(0)}, ${mix(1)}, ${mix(2)})`;
}

/** A colour of the palette, made transparent. */
export function faded(hex: string, alpha: number): string {
  const channel = (at: number) => parseInt(hex.slice(at, at + 2), 16);
  return `rgba(${channel(1)}, ${channel(3)}, ${channel(5)}, ${alpha})`;
}
