// The report's page: reads the document inside the file, builds the sections, and keeps them up to date with the
// reader's choices, the theme, the paper and, on a live page, the run.
import { startState, type App, type Section } from "./app";
import { redrawAll } from "./charts/width";
import { ToggleLegend } from "./charts/legend";
import { curvesOf, domainNames, runLabel } from "./curves";
import { dropDown, html } from "./dom";
import { listen } from "./live";
import { asDocument, withEvent } from "./records";
import { accuracy } from "./sections/accuracy";
import { checks } from "./sections/checks";
import { compareTable } from "./sections/compare_table";
import { federation } from "./sections/federation";
import { headline } from "./sections/headline";
import { hostile } from "./sections/hostile";
import { masthead } from "./sections/masthead";
import { measures } from "./sections/measures";
import { merges } from "./sections/merges";
import { network } from "./sections/network";
import { partition } from "./sections/partition";
import { reproduce } from "./sections/reproduce";
import { time } from "./sections/time";
import { dash, onThemeChange, seriesColour, setPrinting, startTheme } from "./theme";

type Maker = (app: App) => Section;

/** A section that fails, on data no one foresaw, says so in its place and leaves the others alone. */
function guarded(make: Maker, app: App): Section {
  const place = html("div", { class: "part" });
  let section: Section | null = null;
  const attempt = (work: () => void) => {
    try {
      work();
    } catch (error) {
      place.replaceChildren(html("section", { class: "failed" },
        html("p", { class: "nothing" }, `This part could not be drawn: ${error instanceof Error ? error.message : String(error)}`)));
      section = null;
    }
  };
  attempt(() => {
    section = make(app);
    place.replaceChildren(section.element);
  });
  return { element: place, update: () => attempt(() => section?.update()) };
}

/** The legend of all curves, which stays in sight while one reads them. */
function legendBar(app: App): Section {
  const legend = new ToggleLegend(app.state.hidden, () => app.changed());
  const element = html("div", { class: "legend-bar" }, legend.element);
  const update = () => legend.update(curvesOf(app.report).map((curve) => ({
    key: curve.key, label: curve.label, colour: seriesColour(curve.position), dash: dash(curve.position),
  })));
  return { element, update };
}

/** Which run the sections below it are about. */
function runPicker(app: App): Section {
  const picker = dropDown("Run", (value) => {
    app.state.run = Number(value);
    app.changed();
  });
  const title = html("h2", {});
  const element = html("div", { class: "one-run" }, title, picker.element);
  const update = () => {
    const labels = app.report.runs.map((run) => runLabel(run, app.report.runs));
    title.textContent = `${labels[app.state.run] ?? "One run"} in detail`;
    picker.set(labels.map((label, i) => [String(i), label]), String(app.state.run));
  };
  return { element, update };
}

function makersFor(app: App): Maker[] {
  const detail = [hostile, time, partition, network, merges, checks, reproduce];
  if (app.report.runs.length === 0) return [];
  if (app.report.runs.length === 1) return [headline, federation, accuracy, measures, ...detail];
  return [compareTable, legendBar, accuracy, measures, runPicker, federation, ...detail];
}

/** What the sections depend on when they are built; everything else they read in update(). */
function shapeOf({ report }: App): string {
  return JSON.stringify([report.runs.length, report.groups.length > 1, report.runs.length > 1 && domainNames(report.runs)]);
}

function start(): void {
  const place = document.getElementById("page")!;
  const text = document.getElementById("dfrost-data")!.textContent!;
  const app: App = { report: asDocument(parsed(text)), state: startState(), changed: () => update() };
  const top = masthead(app);
  const body = html("div", {});
  const foot = html("footer", {});
  place.append(top.element, body, foot);

  let sections: Section[] = [];
  let shape = "";
  const update = () => {
    if (shapeOf(app) !== shape) {
      shape = shapeOf(app);
      sections = makersFor(app).map((make) => guarded(make, app));
      body.replaceChildren(...sections.map((section) => section.element));
    }
    // Of a run that has yet to begin there is more to say than to draw.
    const { runs } = app.report;
    body.hidden = runs.every((run) => run.rounds.length === 0 && !run.about && !run.config);
    body.classList.toggle("no-rounds", runs.every((run) => run.rounds.length === 0));
    // One of no rounds has figures all the same: those of its untrained clients.
    body.classList.toggle("no-figures", runs.every((run) => run.rounds.length === 0 && (run.planned_rounds !== 0 || !run.summary?.final)));
    for (const section of [top, ...sections]) section.update();
    foot.textContent = `Made by ${app.report.generator ?? "dfrost"}. This page is one file and loads nothing.`;
  };

  onThemeChange(update);
  startTheme();
  window.addEventListener("beforeprint", () => turnPaper(true));
  window.addEventListener("afterprint", () => turnPaper(false));
  if (!app.report.live) return;
  top.setConnection("connecting", true);
  listen("events", {
    onConnection: (isWell) => top.setConnection(isWell ? "live" : "connection lost, retrying", isWell),
    onEvent: (event) => {
      app.report = withEvent(app.report, event);
      update();
    },
  });
}

/** Lays the page out for paper, with the configuration open, and back again. */
function turnPaper(isPaper: boolean): void {
  document.documentElement.toggleAttribute("data-print", isPaper);
  for (const details of document.querySelectorAll("details")) {
    if (isPaper) details.dataset.wasOpen = String(details.open);
    details.open = isPaper || details.dataset.wasOpen === "true";
  }
  setPrinting(isPaper);
  redrawAll();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};  // a page without its data says that it holds no run
  }
}

start();
