// One merge seen: the prompts that met at a client, and what the merge made of them.
import { shownRun, type App, type Section } from "../app";
import { HeatMap } from "../charts/heat_map";
import { plainLegend } from "../charts/legend";
import { PlaneChart } from "../charts/plane";
import { clientName, clientTitle, shortClientName } from "../clients";
import { choice, dropDown, html } from "../dom";
import { plural } from "../format";
import type { Merge, Run } from "../records";
import { palette, seriesColour } from "../theme";
import { figure, part } from "./section";

function nameWithDomain({ about }: Run, client: number): string {
  const domain = about?.domains?.[about.clients?.[client]?.domain ?? -1]?.name;
  return clientName(about, client) + (domain === undefined ? "" : ` (${domain})`);
}

/** The plan as a table: a row for each prompt that came in, a column for each merged one. */
function planTable(merge: Merge) {
  const rows = (merge.senders ?? []).flatMap((sender, s) => sender.points.map((_, prompt) => ({ s, prompt, client: sender.client })));
  const at = new Map((merge.plan ?? []).map(([s, prompt, target, mass]) => [`${s} ${prompt} ${target}`, mass]));
  const mass = (row: number, column: number) => at.get(`${rows[row]!.s} ${rows[row]!.prompt} ${column}`) ?? 0;
  return { rows, mass };
}

export function merges(app: App): Section {
  const plane = new PlaneChart();
  const table = new HeatMap();
  const clients = dropDown("Client", (value) => {
    app.state.mergeClient = Number(value);
    app.changed();
  });
  const rounds = dropDown("Round", (value) => {
    app.state.mergeRound = value === "newest" ? null : Number(value);
    app.changed();
  });
  const form = choice("Transport plan as", [["links", "Links"], ["table", "Heat map"]], app.state.mergeForm, (value) => {
    app.state.mergeForm = value;
    app.changed();
  });
  const legend = html("div", {});
  const note = html("p", {});
  const linked = figure("Prompts on their two principal axes", "", html("div", {}, plane.element, legend));
  linked.querySelector("figcaption > div")!.append(note);
  const tabled = figure("The transport plan", "Rows: prompts that came in. Columns: merged prompts. The stronger the colour, the larger the share of a prompt's mass.", table.element);
  const missing = html("p", { class: "nothing" }, "This run did not record how its merges came about.");
  const picture = html("div", {}, html("div", { class: "controls" }, clients.element, rounds.element, form.element), linked, tabled);
  const element = part("merges", "One merge, seen",
    "Dots are the prompts that met at a client, its own and its neighbours'; diamonds are the merged ones. A link's weight is the share of a prompt's mass that went there. Click a diamond to go near it, and again to come back.",
    picture, missing);

  const update = () => {
    const run = shownRun(app);
    const seen = (run?.merges ?? []).filter((m) => (m.merged?.length ?? 0) > 0);
    picture.hidden = seen.length === 0;
    missing.hidden = seen.length > 0;
    if (!run || seen.length === 0) return;
    const clientList = [...new Set(seen.map((m) => m.client))].sort((a, b) => a - b);
    const client = clientList.includes(app.state.mergeClient ?? -1) ? app.state.mergeClient! : clientList[0]!;
    const ofClient = seen.filter((m) => m.client === client);
    const merge = ofClient.find((m) => m.round === app.state.mergeRound) ?? ofClient[ofClient.length - 1]!;
    const isChosen = ofClient.some((m) => m.round === app.state.mergeRound);
    clients.set(clientList.map((c) => [String(c), nameWithDomain(run, c)]), String(client));
    rounds.set([...ofClient.map((m): [string, string] => [String(m.round), String(m.round)]), ["newest", `newest (${ofClient[ofClient.length - 1]!.round})`]],
      isChosen ? String(merge.round) : "newest");
    draw(run, merge);
  };

  const draw = (run: Run, merge: Merge) => {
    const senders = merge.senders ?? [];
    const isTable = app.state.mergeForm === "table";
    linked.hidden = isTable;
    tabled.hidden = !isTable;
    const dead = merge.dead?.length ?? 0;
    const words = `${plural(senders.length, "prompt set")} met at ${clientName(run.about, merge.client)} in round ${merge.round}; ${dead === 0 ? "every merged prompt has mass" : plural(dead, "merged prompt") + " without mass (dashed)"}.`;
    note.textContent = words;
    if (isTable) drawTable(run, merge);
    else plane.update(run.about, merge, `${words} Arrow keys pick a merged prompt, Enter goes near it.`);
    legend.replaceChildren(plainLegend([
      ...senders.map((sender, i) => ({
        key: String(i), mark: "square" as const, colour: seriesColour(i),
        label: nameWithDomain(run, sender.client) + (sender.client === merge.client ? ", own" : ""),
      })),
      { key: "merged", label: "merged", mark: "diamond", colour: palette().ink },
    ]));
  };

  const drawTable = (run: Run, merge: Merge) => {
    const { rows, mass } = planTable(merge);
    table.update({
      rows: rows.length,
      columns: merge.merged?.length ?? 0,
      share: mass,
      title: (row, column) => `${clientTitle(run.about, rows[row]!.client)}, prompt ${rows[row]!.prompt} → ${column}`,
      facts: (row, column) => [{ label: "share of its mass", value: `${(100 * mass(row, column)).toFixed(0)} %` }],
      rowLabel: (row) => `${shortClientName(run.about, rows[row]!.client)}·${rows[row]!.prompt}`,
      columnLabel: String,
      rowBreaks: rows.flatMap((r, i) => (i > 0 && r.s !== rows[i - 1]!.s ? [i] : [])),
      inWords: `Transport plan: ${rows.length} prompts to ${merge.merged?.length} merged ones. Arrow keys read the cells.`,
    });
  };
  return { element, update };
}
