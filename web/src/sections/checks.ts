// What the run checked of itself, in a sentence each: whether messages came, updates stayed finite, and merges kept to
// Theorem 1. A check is shown where the records hold it, and its chart where there is something to see.
import { shownRun, type App, type Section } from "../app";
import { plainLegend } from "../charts/legend";
import { LineChart, type LineSpec } from "../charts/line_chart";
import { html } from "../dom";
import { count, isNumber, plural, significant } from "../format";
import type { Figure, Round } from "../records";
import { seriesColour } from "../theme";
import { part } from "./section";

type Of = (round: Round) => Figure;

interface Verdict {
  isClean: boolean;
  sentence: string;
  chart?: LineSpec;
}

interface Check {
  title: string;
  note: string;
  /** Nothing where no round holds the figures. */
  judge: (rounds: Round[]) => Verdict | null;
}

const CHECKS: Check[] = [
  { title: "Messages", note: "Links that fail by plan are not counted: nothing is sent over them.", judge: judgeMessages },
  { title: "Updates", note: "A client whose update is not finite keeps the state that it had.", judge: judgeUpdates },
  { title: "Theorem 1", note: "The smallest step of each merge, as a share of what the theorem allows.", judge: judgeTheory },
];

export function checks(app: App): Section {
  const rows = CHECKS.map((check) => {
    const chart = new LineChart(check.title);
    const verdict = html("p", { class: "verdict" });
    const legend = html("div", {});
    const words = html("div", {}, html("h3", {}, check.title), verdict, html("p", { class: "note" }, check.note), legend);
    return { check, chart, verdict, legend, element: html("div", { class: "check" }, words, chart.element) };
  });
  const element = part("checks", "What was checked", "", html("figure", {}, ...rows.map((row) => row.element)));
  const update = () => {
    const rounds = shownRun(app)?.rounds ?? [];
    for (const row of rows) {
      const found = row.check.judge(rounds);
      row.element.hidden = !found;
      if (!found) continue;
      row.verdict.textContent = `${found.isClean ? "✓" : "⚠"} ${found.sentence}`;
      row.verdict.classList.toggle("broken", !found.isClean);
      row.chart.element.hidden = !found.chart;
      row.legend.hidden = (found.chart?.lines.length ?? 0) < 2;
      if (!found.chart) continue;
      row.chart.update(found.chart);
      row.legend.replaceChildren(plainLegend(found.chart.lines.map((l) => ({ key: l.label, label: l.label, colour: l.colour, mark: "square" }))));
    }
    element.hidden = rows.every((row) => row.element.hidden);
  };
  return { element, update };
}

function judgeMessages(rounds: Round[]): Verdict | null {
  const kinds: [string, Of][] = [["refused", (r) => r.refused_messages], ["missing", (r) => r.missing_messages]];
  const [refused, missing] = kinds.map(([, of]) => total(rounds, of));
  if (refused === undefined || missing === undefined) return null;
  const sent = plural(total(rounds, (r) => r.sent_messages) ?? 0, "message");
  if (refused + missing === 0) return { isClean: true, sentence: `${sent} sent; every one came and was believed.` };
  const sum: Of = (r) => (r.refused_messages ?? 0) + (r.missing_messages ?? 0);
  return {
    isClean: false,
    sentence: `${sent} sent; ${count(refused)} were not believed and ${count(missing)} did not come, ${whereAny(rounds, sum)}.`,
    chart: countsOf(rounds, kinds),
  };
}

function judgeUpdates(rounds: Round[]): Verdict | null {
  const of: Of = (r) => r.diverged_clients;
  const diverged = total(rounds, of);
  if (diverged === undefined) return null;
  if (diverged === 0) return { isClean: true, sentence: `${plural(rounds.length, "round")}; no client's update diverged.` };
  return {
    isClean: false,
    sentence: `${plural(diverged, "update")} diverged and ${diverged === 1 ? "was" : "were"} not used, ${whereAny(rounds, of)}.`,
    chart: countsOf(rounds, [["diverged", of]]),
  };
}

function judgeTheory(rounds: Round[]): Verdict | null {
  const checked = total(rounds, (r) => r.theory?.checked);
  if (checked === undefined) return null;
  const violated = total(rounds, (r) => r.theory?.violated) ?? 0;
  const broken = violated === 0 ? "none broke the bound" : `${count(violated)} broke the bound, ${whereAny(rounds, (r) => r.theory?.violated)}`;
  // At 0 a merge came to a standstill, and a log scale has no place for it.
  const moving = rounds.filter((r) => (r.theory?.largest_ratio ?? 0) > 0);
  return {
    isClean: violated === 0,
    sentence: `${plural(checked, "merge")} checked, ${broken}${moving.length === 0 ? "; every one came to a standstill" : ""}.`,
    chart: moving.length === 0 ? undefined : {
      x: moving.map((r) => r.round), log: true, height: 180, format: (v) => significant(v),
      lines: [{ label: "largest of the round", values: moving.map((r) => r.theory?.largest_ratio), colour: seriesColour(0) }],
    },
  };
}

/** Counts by round, as bars. */
function countsOf(rounds: Round[], kinds: [string, Of][]): LineSpec {
  return {
    x: rounds.map((r) => r.round), whole: true, stacked: true, atLeast: [0, 1], height: 180, format: (v) => count(v),
    lines: kinds.map(([label, of], i) => ({ label, values: rounds.map(of), colour: seriesColour(i) })),
  };
}

/** The sum over the rounds that have the figure; nothing where none has. */
function total(rounds: Round[], of: Of): number | undefined {
  const values = rounds.map(of).filter(isNumber);
  return values.length === 0 ? undefined : values.reduce((sum, v) => sum + v, 0);
}

/** "in round 7", "in rounds 3, 7", "in rounds 1, 2, 3, 4, 5, 6 and 12 more". */
function whereAny(rounds: Round[], of: Of): string {
  const hit = rounds.filter((r) => (of(r) ?? 0) > 0).map((r) => r.round);
  const shown = hit.slice(0, 6).join(", ");
  return `in round${hit.length === 1 ? "" : "s"} ${shown}${hit.length > 6 ? ` and ${hit.length - 6} more` : ""}`;
}
