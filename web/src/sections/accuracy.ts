// Accuracy by round, over all clients and by domain.
import type { App, Section } from "../app";
import { LineChart, type Line } from "../charts/line_chart";
import { plainLegend } from "../charts/legend";
import { bandAlpha, comparesSettings, curvesOf, domainNames, roundsWith, seedBand, valuesOf, type Curve } from "../curves";
import { choice, html } from "../dom";
import { percent, shortPercent } from "../format";
import type { Figure, Round, Spread } from "../records";
import { dash, domainColour, seriesColour } from "../theme";
import { figure, part } from "./section";

const EMPTY = "No round has been evaluated yet.";

function spreadOf(app: App): (round: Round) => Spread | undefined {
  return (r) => (app.state.mask === "masked" ? r.evaluation?.accuracy_masked : r.evaluation?.accuracy_unmasked);
}

function meanOf(app: App): (round: Round) => Figure {
  return (r) => spreadOf(app)(r)?.mean;
}

function networkOf(app: App): (round: Round) => Figure {
  return (r) => (app.state.mask === "masked" ? r.evaluation?.network_accuracy_masked : r.evaluation?.network_accuracy_unmasked);
}

function domainOf(app: App, name: string): (round: Round) => Figure {
  return (r) => {
    const domains = app.state.who === "clients" ? r.evaluation?.domains : r.evaluation?.network_domains;
    return app.state.mask === "masked" ? domains?.[name]?.accuracy_masked : domains?.[name]?.accuracy_unmasked;
  };
}

/** One run: the clients' mean with their spread, and the network model. */
function linesOfOne(app: App, curve: Curve, x: number[]): Line[] {
  const spread = spreadOf(app);
  const of = (figure: (s: Spread) => Figure) => valuesOf(curve, x, (r) => figure(spread(r) ?? {}));
  const around = (sign: 1 | -1) => of((s) => (s.mean == null || s.std == null ? null : s.mean + sign * s.std));
  return [
    {
      label: "clients, mean", values: of((s) => s.mean), colour: seriesColour(0), width: 2.5,
      bands: [
        { low: of((s) => s.min), high: of((s) => s.max), alpha: 0.12 },
        { low: around(-1), high: around(1), alpha: 0.2 },
      ],
    },
    { label: "network model", values: valuesOf(curve, x, networkOf(app)), colour: seriesColour(1), dash: dash(1) },
  ];
}

/** Several: a line each, with a band over its seeds. */
function linesOfSeveral(curves: Curve[], x: number[], of: (round: Round) => Figure): Line[] {
  return curves.map((curve) => {
    const band = seedBand(curve, x, of);
    return {
      label: curve.label, values: valuesOf(curve, x, of), colour: seriesColour(curve.position), dash: dash(curve.position),
      bands: band ? [{ ...band, alpha: bandAlpha(curves) }] : [],
    };
  });
}

export function accuracy(app: App): Section {
  const isOne = app.report.runs.length === 1;
  const mask = choice("Which classes compete", [["masked", "Masked"], ["unmasked", "Unmasked"]], app.state.mask, (value) => {
    app.state.mask = value;
    app.changed();
  });
  const who = choice("Whose accuracy", [["clients", "Clients"], ["network", "Network model"]], app.state.who, (value) => {
    app.state.who = value;
    app.changed();
  });
  const chart = new LineChart("Accuracy by round", "wide");
  const legend = html("div", {});
  const note = isOne
    ? "Band: one standard deviation over clients; paler: from the worst client to the best."
    : comparesSettings(app.report)
      ? "Mean over seeds; band: one standard deviation over seeds."
      : "Mean over clients, a line for each run.";
  const domains = isOne ? domainsOfOne(app) : domainsOfSeveral(app);
  const element = part("accuracy", "Accuracy",
    "On the global test set. Masked: only the classes of a picture's own domain compete; unmasked: all of them.",
    html("div", { class: "controls" }, mask.element, !isOne && who.element),
    figure("All domains", note, chart.element, legend), domains.element);

  const update = () => {
    const curves = curvesOf(app.report).filter((c) => !app.state.hidden.has(c.key));
    const of = app.state.who === "clients" || isOne ? meanOf(app) : networkOf(app);
    const x = roundsWith(app.report.runs, of);
    const lines = isOne && curves[0] ? linesOfOne(app, curves[0], x) : linesOfSeveral(curves, x, of);
    if (isOne) legend.replaceChildren(plainLegend(lines.map((l) => ({ key: l.label, ...l }))));
    chart.update({ x, lines, format: percent, tick: shortPercent, height: 320, empty: EMPTY });
    domains.update();
  };
  return { element, update };
}

function domainsOfOne(app: App): Section {
  const chart = new LineChart("Accuracy by domain", "wide");
  const legend = html("div", {});
  const update = () => {
    const curve = curvesOf(app.report)[0];
    const names = domainNames(app.report.runs);
    const x = roundsWith(app.report.runs, meanOf(app));
    const lines = !curve ? [] : names.map((name, i) => ({
      label: name, values: valuesOf(curve, x, domainOf(app, name)), colour: domainColour(i), dash: dash(i),
    }));
    legend.replaceChildren(plainLegend(lines.map((l) => ({ key: l.label, ...l }))));
    chart.update({ x, lines, format: percent, tick: shortPercent, height: 280, empty: EMPTY });
  };
  return { element: figure("By domain", "Mean over clients, on the test pictures of each domain.", chart.element, legend), update };
}

function domainsOfSeveral(app: App): Section {
  const charts = domainNames(app.report.runs).map((name) => ({ name, chart: new LineChart(`Accuracy on ${name} by round`) }));
  const element = html("div", { class: "grid small" }, ...charts.map(({ name, chart }) => figure(name, "", chart.element)));
  const update = () => {
    const curves = curvesOf(app.report).filter((c) => !app.state.hidden.has(c.key));
    for (const { name, chart } of charts) {
      const of = domainOf(app, name);
      const x = roundsWith(app.report.runs, of);
      chart.update({ x, lines: linesOfSeveral(curves, x, of), format: percent, tick: shortPercent, height: 200, empty: EMPTY });
    }
  };
  return { element, update };
}
