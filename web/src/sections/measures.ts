// What else is measured every round: loss, agreement, and what the merges did. One small chart each.
import type { App, Section } from "../app";
import { LineChart, type Line } from "../charts/line_chart";
import { plainLegend } from "../charts/legend";
import { bandAlpha, curvesOf, roundsWith, seedBand, valuesOf } from "../curves";
import { html } from "../dom";
import { decimals, percent, plural, shortPercent, significant } from "../format";
import type { Figure, Round } from "../records";
import { dash, seriesColour } from "../theme";
import { figure, part } from "./section";

interface Measure {
  title: string;
  note: string;
  of: (round: Round) => Figure;
  format: (value: Figure) => string;
  tick?: (value: Figure) => string;
  log?: boolean;
  atLeast?: [number, number];
  whole?: boolean;
  isOfMerges?: boolean;
}

/** Of merges: a round without any has no figure, whatever it counts. */
function ofMerges(figure: (round: Round) => Figure): (round: Round) => Figure {
  return (round) => (round.merge_error == null ? null : figure(round));
}

const MEASURES: Measure[] = [
  { title: "Consensus error", note: "W₂² of the clients' prompts to the network's barycenter, mean; log scale. Falling: they come to agree.", of: (r) => r.consensus_error, format: (v) => significant(v), log: true },
  { title: "Merge error", note: "W₂² between what came in and what the merge made of it, mean over merges.", of: ofMerges((r) => r.merge_error), isOfMerges: true, format: (v) => significant(v), atLeast: [0, 0] },
  { title: "Off-index mass", note: "Share of mass that left its own index. At 0, averaging by index would have done the same.", of: ofMerges((r) => r.off_index_mass), isOfMerges: true, format: percent, tick: shortPercent, atLeast: [0, 0.01] },
  { title: "Dead prompts", note: "Merged prompts that no mass went to in some step of their merge, over all merges of the round.", of: ofMerges((r) => r.dead_prompts), isOfMerges: true, format: (v) => significant(v), atLeast: [0, 1], whole: true },
  { title: "Mixing factor", note: "ρ of the round's graph, among the clients that took part. 0: all agree after one exchange; 1: some never do.", of: (r) => r.active_mixing_factor ?? r.mixing_factor, format: (v) => significant(v), atLeast: [0, 1] },
];

export function measures(app: App): Section {
  const loss = lossChart(app);
  const charts = MEASURES.map((measure) => ({ measure, chart: new LineChart(measure.title) }));
  const element = part("measures", "Learning and agreement", "",
    html("div", { class: "grid" }, loss.element,
      ...charts.map(({ measure, chart }) => figure(measure.title, measure.note, chart.element))));
  const update = () => {
    loss.update();
    const curves = curvesOf(app.report).filter((c) => !app.state.hidden.has(c.key));
    const hasRounds = app.report.runs.some((run) => run.rounds.length > 0);
    for (const { measure, chart } of charts) {
      const x = roundsWith(app.report.runs, measure.of);
      const lines = curves.map((curve): Line => {
        const band = seedBand(curve, x, measure.of);
        return {
          label: curve.label, values: valuesOf(curve, x, measure.of), colour: seriesColour(curve.position),
          dash: dash(curve.position), bands: band ? [{ ...band, alpha: bandAlpha(curves) }] : [],
        };
      });
      const isNever = measure.whole && x.length > 0 && lines.every((line) => line.values.every((v) => !v));
      if (isNever) {
        chart.update({ x: [], lines: [], format: measure.format, empty: `None in ${plural(x.length, "round")}.` });
        continue;
      }
      chart.update({ x, lines, format: measure.format, tick: measure.tick, log: measure.log, atLeast: measure.atLeast, whole: measure.whole,
        stacked: measure.whole && lines.length === 1,
        empty: measure.log && x.length > 0 ? "Nothing above zero to draw on a log scale." : measure.isOfMerges && hasRounds ? "Nothing to measure: there was no merge." : "Nothing recorded yet." });
    }
  };
  return { element, update };
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
    chart.update({ x, lines, format: (v) => decimals(v, 4), tick: (v) => significant(v), atLeast: [0, 0] });
  };
  const note = isOne ? "Cross-entropy: of each client's last epoch, and on the test set." : "Cross-entropy of each client's last epoch, mean.";
  return { element: figure("Loss", note, chart.element, isOne && legend), update };
}
