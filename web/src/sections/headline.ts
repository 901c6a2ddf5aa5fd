// What came out, at a glance: the figures of one run, or the table of several.
import type { App, Section } from "../app";
import { html } from "../dom";
import { count, FORMATS, isNumber, moment, percent, plural } from "../format";
import { figureAt, type Run, type Spread } from "../records";

function tile(name: string, value: string, note = "", isMain = false): HTMLElement {
  return html("div", { class: isMain ? "tile main" : "tile" }, html("dt", {}, name),
    html("dd", {}, html("span", { class: "value" }, value), note !== "" && html("span", { class: "note" }, note)));
}

function overClients(spread: Spread | undefined): string {
  return isNumber(spread?.std) ? `± ${percent(spread.std)} over clients` : "mean over clients";
}

/** One line of what was run on what: "d-frost on mnist, svhn · 50 clients · deit-tiny · seed 1". */
export function settingOf(run: Run): string {
  const { about, summary } = run;
  const clients = summary?.clients ?? about?.clients?.length;
  const domains = (about?.domains ?? []).map((d) => d.name).join(", ");
  const seed = summary?.seed ?? about?.seed;
  return [
    domains && `on ${domains}`,
    clients !== undefined && plural(clients, "client"),
    about?.backbone?.name,
    seed !== undefined && `seed ${seed}`,
    about?.started && `started ${moment(about.started)}`,
  ].filter(Boolean).join(" · ");
}

export function headline(app: App): Section {
  const tiles = html("dl", { class: "tiles" });
  const element = html("section", { id: "headline", "aria-label": "Result" }, tiles);
  const update = () => {
    const run = app.report.runs[0];
    const final = run?.summary?.final;
    const { paper, summary } = run ?? {};
    const rounds = summary?.rounds ?? run?.rounds.length ?? 0;
    const planned = run?.planned_rounds;
    const tileOf = (name: string, note: string, isMain = false) => {
      const row = app.report.figures.find((figure) => figure.name === name);
      return row && tile(row.title, FORMATS[row.form](figureAt(summary, row.summary ?? "")), note, isMain);
    };
    const images = isNumber(summary?.images) && `${count(summary.images)} pictures trained on`;
    const shown = [
      tileOf("evaluation.accuracy_masked.mean", run?.peer ? "of this site" : overClients(final?.accuracy_masked), true),
      tileOf("evaluation.accuracy_unmasked.mean", run?.peer ? "of this site" : overClients(final?.accuracy_unmasked), true),
      // A site knows its own model alone, and not how far the others' are from it.
      !run?.peer && tile("Network model", percent(final?.network_accuracy_masked), `${percent(final?.network_accuracy_unmasked)} unmasked`),
      paper ? tile("The paper reports", percent(paper.accuracy / 100), paper.setting) : tileOf("train_loss", run?.peer ? "last epoch" : "mean over clients, last epoch"),
      tile("Rounds", isNumber(planned) && rounds < planned ? `${count(rounds)} of ${count(planned)}` : count(rounds), images || ""),
      tileOf("seconds.total", trainingShare(run)),
      tileOf("sent_bytes", isNumber(summary?.sent_bytes) ? `${count(summary.sent_bytes)} bytes` : ""),
      !run?.peer && tileOf("consensus_error", "mean W₂² to the barycenter"),
    ];
    tiles.replaceChildren(...shown.flatMap((one) => one || []));
  };
  return { element, update };
}

function trainingShare(run: Run | undefined): string {
  const spent = run?.summary?.seconds;
  if (!isNumber(spent?.total) || !isNumber(spent?.train) || spent.total <= 0) return "";
  return `${((100 * spent.train) / spent.total).toFixed(0)} % of it training`;
}
