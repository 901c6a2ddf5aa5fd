// The final figures of every setting, mean ± standard deviation over seeds, beside what the paper reports.
import type { App, Section } from "../app";
import { swatch, type Look } from "../charts/legend";
import { curvesOf, runLabel } from "../curves";
import { html } from "../dom";
import { bytes, decimals, NOTHING, percentPlusMinus, seconds, significant } from "../format";
import type { Group, Run } from "../records";
import { dash, seriesColour } from "../theme";
import { part } from "./section";

const PAPER = "Paper, %";
const COLUMNS = [
  "Masked, %", PAPER, "Unmasked, %", "Network, masked, %", "Network, unmasked, %", "Consensus error", "Time", "Sent", "Seeds",
];

/** A run as a group of one, where a report brings no groups. */
function groupOf(run: Run, position: number, label: string): Group {
  const final = run.summary?.final;
  const seed = run.summary?.seed ?? run.about?.seed;
  return {
    label,
    runs: [position],
    seeds: seed === undefined ? [] : [seed],
    accuracy_masked: { mean: final?.accuracy_masked?.mean },
    accuracy_unmasked: { mean: final?.accuracy_unmasked?.mean },
    network_accuracy_masked: { mean: final?.network_accuracy_masked },
    network_accuracy_unmasked: { mean: final?.network_accuracy_unmasked },
    consensus_error: { mean: final?.consensus_error },
    seconds: { mean: run.summary?.seconds?.total },
    sent_bytes: { mean: run.summary?.sent_bytes },
    paper: run.paper,
  };
}

/** The paper's column is left out of a table in which it would be empty. */
function columnsShown(groups: Group[]): string[] {
  return COLUMNS.filter((name) => name !== PAPER || groups.some((group) => group.paper));
}

function row(group: Group, label: string, look: Look | null, shown: string[]): HTMLElement {
  const several = group.runs.length > 1;
  const figures = [
    percentPlusMinus(group.accuracy_masked, several),
    decimals(group.paper?.accuracy, 2),
    percentPlusMinus(group.accuracy_unmasked, several),
    percentPlusMinus(group.network_accuracy_masked, several),
    percentPlusMinus(group.network_accuracy_unmasked, several),
    significant(group.consensus_error?.mean),
    seconds(group.seconds?.mean),
    bytes(group.sent_bytes?.mean),
    (group.seeds ?? []).join(", ") || NOTHING,
  ];
  return html("tr", {}, html("th", { scope: "row" }, html("div", {}, look && swatch(look), html("span", {}, label))),
    ...figures.filter((_, i) => shown.includes(COLUMNS[i]!)).map((text) => html("td", {}, text)));
}

export function compareTable(app: App): Section {
  const table = html("table", { class: "figures" });
  const note = html("p", { class: "note" });
  const element = part("figures", "Final figures",
    "Of the last evaluation: mean over clients, then mean ± standard deviation over seeds. Masked: only the classes of a picture's own domain compete.",
    html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Final figures" }, table), note);
  const update = () => {
    const { report } = app;
    const compares = report.groups.length > 1;
    const looks = curvesOf(report).map(({ position }): Look => ({ colour: seriesColour(position), dash: dash(position) }));
    const shown = columnsShown(report.groups);
    const rows = compares
      ? curvesOf(report).map((curve, i) => row(report.groups[i]!, curve.label, looks[i]!, shown))
      : [
        ...report.runs.map((run, i) => row(groupOf(run, i, ""), runLabel(run, report.runs), looks[i]!, shown)),
        ...report.groups.map((group) => row(group, "all seeds", null, shown)),
      ];
    table.replaceChildren(
      html("thead", {}, html("tr", {}, html("th", { scope: "col" }, compares ? "Method" : "Run"),
        ...shown.map((name) => html("th", { scope: "col" }, name)))),
      html("tbody", {}, ...rows));
    const settings = new Set(report.groups.flatMap((g) => (g.paper ? [g.paper.setting] : [])));
    note.textContent = settings.size > 0 ? `The paper's setting: ${[...settings].join("; ")}.` : "";
    note.hidden = settings.size === 0;
  };
  return { element, update };
}
