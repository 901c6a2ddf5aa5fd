// The top of the page: what this is, whether it is live, and what is wrong with the records.
import type { App, Section } from "../app";
import { runLabel } from "../curves";
import { html } from "../dom";
import { plural } from "../format";
import { KNOWN_SCHEMA, type ReportDocument } from "../records";
import { theme, toggleTheme } from "../theme";
import { settingOf } from "./headline";

export interface Masthead extends Section {
  setConnection(text: string, isWell: boolean): void;
}

function lede(report: ReportDocument): string {
  const [first] = report.runs;
  if (report.runs.length === 1 && first) {
    const isKnown = first.about || first.summary;
    const method = isKnown && (report.groups[0]?.label || (first.summary?.method ?? first.about?.method));
    return [method, settingOf(first)].filter(Boolean).join(" ");
  }
  if (report.groups.length > 1) return `${plural(report.groups.length, "setting")} compared, in ${plural(report.runs.length, "run")}`;
  return report.runs.length > 1 ? "one setting, several seeds" : "";
}

function problemsOf(report: ReportDocument): string[] {
  const problems: string[] = [];
  if (report.schema > KNOWN_SCHEMA) {
    problems.push(`This data was written by a newer dfrost (schema ${report.schema}; this page knows ${KNOWN_SCHEMA}). What it understands is shown.`);
  }
  if (report.runs.length === 0) problems.push("This report holds no run.");
  for (const run of report.runs) {
    const name = report.runs.length > 1 ? `${runLabel(run, report.runs)}: ` : "";
    const said = (run.problems ?? []).map(String);
    for (const problem of said) problems.push(name + problem);
    if (run.rounds.length === 0 && said.length === 0 && run.planned_rounds !== 0) {
      problems.push(`${name}${report.live ? "no round has finished yet; the page fills as they do." : "no round was recorded."}`);
    }
  }
  return problems;
}

export function masthead(app: App): Masthead {
  const badge = html("span", { class: "badge", role: "status", hidden: true });
  const button = html("button", { type: "button", class: "theme" });
  button.addEventListener("click", () => toggleTheme());
  const title = html("h1", {});
  const subtitle = html("p", { class: "lede" });
  const problems = html("ul", { class: "problems", role: "status", "aria-label": "Problems" });
  const element = html("header", {}, html("div", { class: "bar" }, html("span", { class: "brand" }, "dfrost report"), badge, button),
    title, subtitle, problems);
  const update = () => {
    const { report } = app;
    const name = report.title || report.runs[0]?.name || "An empty report";
    title.textContent = name;
    document.title = `${name} · dfrost report`;
    subtitle.textContent = lede(report);
    const list = problemsOf(report);
    problems.replaceChildren(...list.map((text) => html("li", {}, text)));
    problems.hidden = list.length === 0;
    const other = theme() === "dark" ? "light" : "dark";
    button.textContent = theme() === "dark" ? "☀ Light" : "☾ Dark";
    button.setAttribute("aria-label", `Switch to ${other} colours`);
  };
  const setConnection = (text: string, isWell: boolean) => {
    badge.textContent = text;
    badge.hidden = false;
    badge.classList.toggle("lost", !isWell);
  };
  return { element, update, setConnection };
}
