// What else is measured every round: loss, agreement, and what the merges did. One small chart for each figure whose
// row in the table asks for one.
import type { App, Section } from "../app";
import { LineChart, type Line } from "../charts/line_chart";
import { plainLegend } from "../charts/legend";
import { bandAlpha, curvesOf, roundsWith, seedBand, valuesOf } from "../curves";
import { html } from "../dom";
import { FORMATS, plural, shortPercent, significant } from "../format";
import { figureAt, type Figure, type FigureRow, type Form, type Round } from "../records";
import { dash, seriesColour } from "../theme";
import { figure, part } from "./section";

/** Where a figure of the table is drawn, and how. */
interface Measure {
  row: FigureRow;
  of: (round: Round) => Figure;
  note: string;
  log: boolean;
  whole: boolean;
  atLeast?: [number, number];
}

/** An axis that ends at the largest value of a figure that stays near zero would make a mountain of it. */
const LEAST_TOP: Partial<Record<Form, number>> = { share: 0.01, whole: 1 };

function measureOf(row: FigureRow): Measure {
  const log = row.chart === "log";
  const top = row.chart === "zero_to_one" ? 1 : (LEAST_TOP[row.form] ?? 0);
  return {
    row, log, whole: row.form === "whole",
    of: (round) => (row.only_with_merges && round.merge_error == null ? null : figureAt(round, row.name)),
    note: log ? `${row.meaning} Log scale.` : row.meaning,
    atLeast: log ? undefined : [0, top],
  };
}

export function measures(app: App): Section {
  const loss = lossChart(app);
  const charts = app.report.figures.filter((row) => row.chart).map((row) => ({ measure: measureOf(row), chart: new LineChart(row.title) }));
  const element = part("measures", "Learning and agreement", "",
    html("div", { class: "grid" }, loss.element,
      ...charts.map(({ measure, chart }) => figure(measure.row.title, measure.note, chart.element))));
  const update = () => {
    loss.update();
    for (const { measure, chart } of charts) drawMeasure(app, measure, chart);
  };
  return { element, update };
}

function drawMeasure(app: App, measure: Measure, chart: LineChart): void {
  const { row, of, log, whole, atLeast } = measure;
  const format = FORMATS[row.form];
  const curves = curvesOf(app.report).filter((c) => !app.state.hidden.has(c.key));
  const x = roundsWith(app.report.runs, of);
  const lines = curves.map((curve): Line => {
    const band = seedBand(curve, x, of);
    return {
      label: curve.label, values: valuesOf(curve, x, of), colour: seriesColour(curve.position),
      dash: dash(curve.position), bands: band ? [{ ...band, alpha: bandAlpha(curves) }] : [],
    };
  });
  const isNever = whole && x.length > 0 && lines.every((line) => line.values.every((v) => !v));
  if (isNever) {
    chart.update({ x: [], lines: [], format, empty: `None in ${plural(x.length, "round")}.` });
    return;
  }
  chart.update({
    x, lines, format, tick: row.form === "share" ? shortPercent : undefined, log, atLeast, whole,
    stacked: whole && lines.length === 1, empty: whyEmpty(app, measure, x.length),
  });
}

function whyEmpty(app: App, { log, row }: Measure, rounds: number): string {
  const hasRounds = app.report.runs.some((run) => run.rounds.length > 0);
  if (log && rounds > 0) return "Nothing above zero to draw on a log scale.";
  return row.only_with_merges && hasRounds ? "Nothing to measure: there was no merge." : "Nothing recorded yet.";
}

/** One run: training and test loss. Several: training loss alone, or the colours would have to mean two things. */
function lossChart(app: App): Section {
  const isOne = app.report.runs.length === 1;
  const chart = new LineChart("Loss");
  const legend = html("div", {});
  const kinds: [string, (round: Round) => Figure][] = [
    ["training", (r) => r.train_loss], ["test, clients", (r) => r.evaluation?.loss], ["test, network", (r) => r.evaluation?.network_loss],
  ];
  const update = () => {
    const curves = curvesOf(app.report).filter((c) => !app.state.hidden.has(c.key));
    const x = roundsWith(app.report.runs, (r) => r.train_loss ?? (isOne ? r.evaluation?.loss : null));
    const only = curvesOf(app.report)[0];
    const lines = isOne && only
      ? kinds.map(([label, of], i): Line => ({ label, values: valuesOf(only, x, of), colour: seriesColour(i), dash: dash(i) }))
      : curves.map((curve): Line => ({
        label: curve.label, values: valuesOf(curve, x, (r) => r.train_loss), colour: seriesColour(curve.position), dash: dash(curve.position),
      }));
    if (isOne) legend.replaceChildren(plainLegend(lines.map((l) => ({ key: l.label, ...l }))));
    chart.update({ x, lines, format: FORMATS.decimals, tick: (v) => significant(v), atLeast: [0, 0] });
  };
  const note = isOne ? "Cross-entropy: of each client's last epoch, and on the test set." : "Cross-entropy of each client's last epoch, mean.";
  return { element: figure("Loss", note, chart.element, isOne && legend), update };
}
