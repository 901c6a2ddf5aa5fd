// Hostile clients: what they did to the others, round by round, and who doubted them. Only a run that has some shows it.
import { shownRun, type App, type Section } from "../app";
import { LineChart } from "../charts/line_chart";
import { clientTitle, isHostile } from "../clients";
import { html } from "../dom";
import { count, FORMATS, NOTHING, shortPercent } from "../format";
import { figureAt, type Round, type Run } from "../records";
import { seriesColour } from "../theme";
import { figure, part } from "./section";

const DRAWN = ["attack.honest_accuracy_masked.mean", "attack.honest_accuracy_masked.min", "attack.mass", "attack.distance", "attack.backdoor_success"];

/** What was done about a sender, and what the table calls it. */
const DOUBTS: [string, string][] = [
  ["rejected", "not believed"], ["clipped_prompts", "prompts clipped"], ["clipped_heads", "heads clipped"], ["skipped_heads", "heads left out"],
];

function hostileClients(run: Run | undefined): number[] {
  return (run?.about?.clients ?? []).map((_, client) => client).filter((client) => isHostile(run?.about, client));
}

/** How often a sender was doubted in a way, over all rounds. */
function timesDoubted(rounds: Round[], kind: string, senders: Set<number>): number {
  return rounds.reduce((sum, round) => sum + (round.defence?.doubted?.[kind] ?? []).filter(([, sender]) => senders.has(sender)).length, 0);
}

function tableOf(run: Run): HTMLElement {
  const all = run.about?.clients ?? [];
  const bad = hostileClients(run);
  const honest = all.map((_, client) => client).filter((client) => !isHostile(run.about, client));
  const defends = run.rounds.some((round) => round.defence);
  const row = (name: string, domain: string, senders: number[]) => html("tr", {}, html("th", { scope: "row" }, name), html("td", {}, domain),
    ...DOUBTS.map(([kind]) => html("td", {}, defends ? count(timesDoubted(run.rounds, kind, new Set(senders))) : NOTHING)));
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Whom merges doubted" }, html("table", { class: "figures" },
    html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "sender"), html("th", { scope: "col" }, "domain"),
      ...DOUBTS.map(([, title]) => html("th", { scope: "col" }, title)))),
    html("tbody", {}, ...bad.map((client) => row(clientTitle(run.about, client), run.about?.domains?.[all[client]?.domain ?? -1]?.name ?? "", [client])),
      row(`All ${count(honest.length)} honest ones`, "", honest))));
}

export function hostile(app: App): Section {
  const charts = app.report.figures.filter((row) => DRAWN.includes(row.name)).map((row) => {
    const chart = new LineChart(row.title);
    return { row, chart, place: figure(row.title, row.meaning, chart.element) };
  });
  const table = html("div", {});
  const element = part("hostile", "Hostile clients", "Some clients of this run were hostile, by its experiment. What they did to the others, and how often merges doubted them.",
    html("div", { class: "grid" }, ...charts.map((c) => c.place)), figure("Whom merges doubted", "Letters, over all rounds and receivers.", table));
  const update = () => {
    const run = shownRun(app);
    element.hidden = hostileClients(run).length === 0;
    if (!run || element.hidden) return;
    for (const { row, chart, place } of charts) {
      const rounds = run.rounds.filter((round) => figureAt(round, row.name) !== null);
      place.hidden = rounds.length === 0;
      chart.update({
        x: rounds.map((round) => round.round), format: FORMATS[row.form], tick: row.form === "share" ? shortPercent : undefined, atLeast: [0, 0],
        lines: [{ label: row.title, values: rounds.map((round) => figureAt(round, row.name)), colour: seriesColour(0) }],
      });
    }
    table.replaceChildren(tableOf(run));
  };
  return { element, update };
}
