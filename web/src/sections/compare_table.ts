// The final figures of every setting, mean ± standard deviation over seeds, beside what the paper reports.
import type { App, Section } from "../app";
import { swatch, type Look } from "../charts/legend";
import { curvesOf, runLabel } from "../curves";
import { html } from "../dom";
import { decimals, FORMATS, NOTHING, percentPlusMinus } from "../format";
import { figureAt, type FigureRow, type Group, type MeanStd, type ReportDocument, type Run } from "../records";
import { dash, seriesColour } from "../theme";
import { part } from "./section";

interface TableColumn {
  heading: string;
  cell: (group: Group) => string;
}

const PAPER: TableColumn = { heading: "Paper, %", cell: (group) => decimals(group.paper?.accuracy, 2) };
const SEEDS: TableColumn = { heading: "Seeds", cell: (group) => (group.seeds ?? []).join(", ") || NOTHING };

/** The figures of the table that have a column, from left to right. */
function columnRows(report: ReportDocument): (FigureRow & { column: NonNullable<FigureRow["column"]> })[] {
  return report.figures.flatMap((row) => (row.column ? [{ ...row, column: row.column }] : []))
    .sort((a, b) => a.column.place - b.column.place);
}

/** A run as a group of one, where a report brings no groups. */
function groupOf(report: ReportDocument, run: Run, position: number): Group {
  const seed = run.summary?.seed ?? run.about?.seed;
  const figures = columnRows(report).map((row) => [row.column.name, { mean: figureAt(run.summary, row.summary ?? "") }]);
  return { label: "", runs: [position], seeds: seed === undefined ? [] : [seed], paper: run.paper, ...Object.fromEntries(figures) };
}

/** The paper's column stands beside the first figure, the one it is about, and only where it would not be empty. */
function columnsOf(report: ReportDocument): TableColumn[] {
  const columns = columnRows(report).map((row): TableColumn => ({
    heading: row.column.heading,
    cell: (group) => {
      const value = (group as unknown as Record<string, MeanStd | null | undefined>)[row.column.name];
      return row.form === "share" ? percentPlusMinus(value, group.runs.length > 1) : FORMATS[row.form](value?.mean);
    },
  }));
  if (report.groups.some((group) => group.paper)) columns.splice(1, 0, PAPER);
  return [...columns, SEEDS];
}

function row(group: Group, label: string, look: Look | null, columns: TableColumn[]): HTMLElement {
  return html("tr", {}, html("th", { scope: "row" }, html("div", {}, look && swatch(look), html("span", {}, label))),
    ...columns.map((column) => html("td", {}, column.cell(group))));
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
    const shown = columnsOf(report);
    const rows = compares
      ? curvesOf(report).map((curve, i) => row(report.groups[i]!, curve.label, looks[i]!, shown))
      : [
        ...report.runs.map((run, i) => row(groupOf(report, run, i), runLabel(run, report.runs), looks[i]!, shown)),
        ...report.groups.map((group) => row(group, "all seeds", null, shown)),
      ];
    table.replaceChildren(
      html("thead", {}, html("tr", {}, html("th", { scope: "col" }, compares ? "Method" : "Run"),
        ...shown.map((column) => html("th", { scope: "col" }, column.heading)))),
      html("tbody", {}, ...rows));
    const settings = new Set(report.groups.flatMap((g) => (g.paper ? [g.paper.setting] : [])));
    note.textContent = settings.size > 0 ? `The paper's setting: ${[...settings].join("; ")}.` : "";
    note.hidden = settings.size === 0;
  };
  return { element, update };
}
