// Which curves the charts overlay, and their values per round: one curve per run, or, where several settings are
// compared, one per setting as the mean over its seeds.
import { isNumber } from "./format";
import type { Figure, ReportDocument, Round, Run } from "./records";

export interface Curve {
  key: string;
  label: string;
  runs: Run[];
  /** Which colour and dash it has, wherever it appears. */
  position: number;
}

export interface Band {
  low: Figure[];
  high: Figure[];
}

/** True where settings are compared, so that a curve stands for several seeds. */
export function comparesSettings(report: ReportDocument): boolean {
  return report.groups.length > 1;
}

export function runLabel(run: Run, among: Run[]): string {
  const seed = run.summary?.seed ?? run.about?.seed;
  const isAlone = among.filter((other) => other.name === run.name).length < 2;
  return isAlone || seed === undefined ? run.name : `${run.name}, seed ${seed}`;
}

export function curvesOf(report: ReportDocument): Curve[] {
  if (!comparesSettings(report)) {
    return report.runs.map((run, i) => ({
      key: `run ${i}`, label: runLabel(run, report.runs), runs: [run], position: i,
    }));
  }
  return report.groups.map((group, i) => {
    const isTwin = report.groups.some((other) => other !== group && other.label === group.label);
    const first = report.runs[group.runs[0]!]!;
    return {
      key: `group ${i}`,
      label: isTwin ? `${group.label} (${first.name})` : group.label,
      runs: group.runs.map((r) => report.runs[r]!),
      position: i,
    };
  });
}

/** The rounds in which any run has a figure, in order. */
export function roundsWith(runs: Run[], figure: (round: Round) => Figure): number[] {
  const rounds = new Set<number>();
  for (const run of runs) for (const r of run.rounds) if (isNumber(figure(r))) rounds.add(r.round);
  return [...rounds].sort((a, b) => a - b);
}

/** A curve's value in each of the rounds: the mean over its runs that have one. */
export function valuesOf(curve: Curve, x: number[], figure: (round: Round) => Figure): Figure[] {
  return overRuns(curve, x, figure, mean);
}

/** One standard deviation over seeds to either side, or nothing where there is only one. */
export function seedBand(curve: Curve, x: number[], figure: (round: Round) => Figure): Band | null {
  if (curve.runs.length < 2) return null;
  return {
    // No figure that is drawn can be negative.
    low: overRuns(curve, x, figure, (values) => Math.max(mean(values) - deviation(values), 0)),
    high: overRuns(curve, x, figure, (values) => mean(values) + deviation(values)),
  };
}

/** Bands of many curves lie over each other: the more there are, the paler. */
export function bandAlpha(curves: Curve[]): number {
  return curves.length > 4 ? 0.07 : 0.14;
}

function overRuns(
  curve: Curve, x: number[], figure: (round: Round) => Figure, combine: (values: number[]) => number): Figure[] {
  const byRound = new Map<number, number[]>();
  for (const run of curve.runs) {
    for (const r of run.rounds) {
      const value = figure(r);
      if (!isNumber(value)) continue;
      const values = byRound.get(r.round);
      if (values) values.push(value);
      else byRound.set(r.round, [value]);
    }
  }
  return x.map((round) => {
    const values = byRound.get(round);
    return values ? combine(values) : null;
  });
}

function mean(values: number[]): number {
  return values.reduce((sum, v) => sum + v, 0) / values.length;
}

function deviation(values: number[]): number {
  if (values.length < 2) return 0;
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, v) => sum + (v - centre) ** 2, 0) / (values.length - 1));
}

/** The names of a report's domains in the order of the data, then any that only the evaluations know. */
export function domainNames(runs: Run[]): string[] {
  const names = new Set<string>();
  for (const run of runs) for (const domain of run.about?.domains ?? []) names.add(domain.name);
  for (const run of runs) {
    for (const r of run.rounds) for (const name of Object.keys(r.evaluation?.domains ?? {})) names.add(name);
  }
  return [...names];
}
