// Who talked to whom, round by round.
import { shownRun, type App, type Section } from "../app";
import { GraphChart } from "../charts/graph";
import { plainLegend } from "../charts/legend";
import { clientTitle, isHostile, shortClientName } from "../clients";
import { html } from "../dom";
import { count, plural, significant } from "../format";
import type { Graph, Round, Run } from "../records";
import { domainColour } from "../theme";
import { figure, part } from "./section";

/** The round the slider stands on: the chosen one or the nearest before it, or the newest. */
function chosenRound(rounds: Round[], chosen: number | null): Round | undefined {
  if (chosen === null) return rounds[rounds.length - 1];
  return [...rounds].reverse().find((r) => r.round <= chosen) ?? rounds[0];
}

function neighbours(graph: Graph, client: number): { links: number[]; failed: number[] } {
  const ends = (links: [number, number][] | undefined) =>
    (links ?? []).flatMap(([u, v]) => (u === client ? [v] : v === client ? [u] : [])).sort((a, b) => a - b);
  return { links: ends(graph.links), failed: ends(graph.failed) };
}

function factsOf(run: Run, graph: Graph, client: number) {
  const about = run.about?.clients?.[client];
  const domain = run.about?.domains?.[about?.domain ?? -1]?.name;
  const { links, failed } = neighbours(graph, client);
  const names = (clients: number[]) => clients.slice(0, 12).map((c) => shortClientName(run.about, c)).join(", ") + (clients.length > 12 ? " …" : "");
  const facts = [
    ...(domain === undefined ? [] : [{ label: "domain", value: domain }]),
    ...(about?.samples === undefined ? [] : [{ label: "pictures", value: count(about.samples) }]),
    { label: "talked to", value: names(links) || "nobody" },
    ...(failed.length === 0 ? [] : [{ label: "links failed to", value: names(failed) }]),
  ];
  return (graph.absent ?? []).includes(client) ? [...facts, { label: "sat this round out", value: "" }] : facts;
}

export function network(app: App): Section {
  const chart = new GraphChart();
  const slider = html("input", { type: "range", min: 0, step: 1, "aria-label": "Round" });
  const shown = html("output", { class: "round" });
  const legend = html("div", {});
  const facts = html("dl", { class: "facts" });
  const missing = html("p", { class: "nothing" });
  const picture = figure("The round's graph", "Failed links are dashed; clients who sat out are hollow, hostile ones crossed.",
    html("div", { class: "beside" }, chart.element,
      html("div", {}, html("label", { class: "slider" }, html("span", {}, "Round"), shown, slider), facts, legend)));
  const element = part("network", "Who talked to whom", "The graph is drawn anew each round. Move through the rounds, or point at a client to see its links alone.",
    picture, missing);

  slider.addEventListener("input", () => {
    const rounds = drawable(shownRun(app));
    const position = Number(slider.value);
    // At the end it follows a run that goes on.
    app.state.round = position >= rounds.length - 1 ? null : (rounds[position]?.round ?? null);
    app.changed();
  });

  const update = () => {
    const run = shownRun(app);
    const rounds = drawable(run);
    const round = chosenRound(rounds, app.state.round);
    picture.hidden = !round;
    missing.hidden = !!round;
    missing.textContent = run && run.rounds.length > 0
      ? "This run did not record its graphs (very large networks do not)." : "No round has been recorded yet.";
    if (!run || !round) return;
    const position = rounds.indexOf(round);
    slider.max = String(rounds.length - 1);
    slider.value = String(position);
    slider.setAttribute("aria-valuetext", `round ${round.round} of ${rounds[rounds.length - 1]!.round}`);
    shown.textContent = `${round.round} of ${rounds[rounds.length - 1]!.round}`;
    draw(run, round);
  };

  const draw = (run: Run, round: Round) => {
    const graph = round.graph!;
    const clients = clientCount(run, graph);
    const domains = Array.from({ length: clients }, (_, i) => run.about?.clients?.[i]?.domain ?? 0);
    const links = graph.links?.length ?? 0;
    const failed = graph.failed?.length ?? 0;
    const absent = graph.absent?.length ?? 0;
    chart.update({
      graph, domains, hostile: new Set(domains.map((_, client) => client).filter((client) => isHostile(run.about, client))), title: (client) => clientTitle(run.about, client), facts: (client) => factsOf(run, graph, client),
      inWords: `Network of round ${round.round}: ${plural(clients, "client")}, ${plural(links, "link")}, ${failed} failed. Arrow keys pick a client.`,
    });
    const fact = (name: string, value: string) => html("div", {}, html("dt", {}, name), html("dd", {}, value));
    facts.replaceChildren(
      fact("links that worked", count(links)), fact("links that failed", count(failed)),
      fact("clients that took part", `${count(clients - absent)} of ${count(clients)}`),
      fact("mixing factor", significant(round.mixing_factor)),
      ...(absent === 0 || round.active_mixing_factor == null ? [] : [fact("among those who took part", significant(round.active_mixing_factor))]));
    legend.replaceChildren(plainLegend((run.about?.domains ?? []).map((domain, i) => (
      { key: domain.name, label: domain.name, colour: domainColour(i), mark: "square" }))));
  };
  return { element, update };
}

function drawable(run: Run | undefined): Round[] {
  return (run?.rounds ?? []).filter((r) => r.graph !== undefined && r.graph !== null);
}

function clientCount(run: Run, graph: Graph): number {
  const named = [...(graph.links ?? []), ...(graph.failed ?? [])].flat().concat(graph.absent ?? []);
  return Math.max(run.about?.clients?.length ?? 0, run.summary?.clients ?? 0, ...named.map((client) => client + 1));
}
