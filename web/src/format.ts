// Figures as text, rounded as `dfrost run` and `dfrost compare` print them.
import type { Figure, Form, MeanStd } from "./records";

export const NOTHING = "–";

export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

export function percent(share: Figure): string {
  return isNumber(share) ? `${(100 * share).toFixed(2)} %` : NOTHING;
}

/** For axes, whose ticks are round. */
export function shortPercent(share: Figure): string {
  return isNumber(share) ? `${significant(100 * share, 4)} %` : NOTHING;
}

export function decimals(value: Figure, digits: number): string {
  return isNumber(value) ? value.toFixed(digits) : NOTHING;
}

/** Three significant digits, as C's %.3g. */
export function significant(value: Figure, digits = 3): string {
  if (!isNumber(value)) return NOTHING;
  if (value === 0) return "0";
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e") as [string, string];
  const power = Number(exponent);
  const trimmed = (text: string) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (power < -4 || power >= digits) {
    return `${trimmed(mantissa)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  return trimmed(value.toFixed(digits - 1 - power));
}

export function count(value: Figure): string {
  return isNumber(value) ? Math.round(value).toLocaleString("en-US") : NOTHING;
}

export function seconds(value: Figure): string {
  if (!isNumber(value)) return NOTHING;
  if (value < 10) return `${value.toFixed(2)} s`;
  if (value < 60) return `${value.toFixed(1)} s`;
  const whole = Math.round(value);
  const two = (n: number) => String(n).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)}:${two(whole % 60)} min`;
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)} h`;
}

export function bytes(value: Figure): string {
  if (!isNumber(value)) return NOTHING;
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  let scaled = value;
  while (scaled >= 999.5 && unit < units.length - 1) {
    scaled /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? scaled : scaled >= 100 ? scaled.toFixed(0) : scaled.toFixed(scaled >= 10 ? 1 : 2)} ${units[unit]}`;
}

/** "79.36 ± 0.41", both in percent; the mean alone where there is one run. */
export function percentPlusMinus(value: MeanStd | null | undefined, several: boolean): string {
  if (!isNumber(value?.mean)) return NOTHING;
  const mean = (100 * value.mean).toFixed(2);
  return several && isNumber(value.std) ? `${mean} ± ${(100 * value.std).toFixed(2)}` : mean;
}

/** By the table of figures. */
export const FORMATS: Record<Form, (value: Figure) => string> = {
  whole: count, significant: (v) => significant(v), decimals: (v) => decimals(v, 4), share: percent, seconds, bytes,
};

export function plural(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** "2026-11-15T21:04:05Z" as "2026-11-15 21:04 UTC"; anything else as it is. */
export function moment(text: string): string {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z$/.exec(text);
  return match ? `${match[1]} ${match[2]} UTC` : text;
}
