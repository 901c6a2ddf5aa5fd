// What came out, at a glance: the figures of one run, or the table of several.
import type { App, Section } from "../app";
import { html } from "../dom";
import { bytes, count, decimals, isNumber, moment, percent, plural, seconds, significant } from "../format";
import type { Run, Spread } from "../records";

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
    const images = isNumber(summary?.images) && `${count(summary.images)} pictures trained on`;
    tiles.replaceChildren(
      tile("Accuracy, masked", percent(final?.accuracy_masked?.mean), overClients(final?.accuracy_masked), true),
      tile("Accuracy, unmasked", percent(final?.accuracy_unmasked?.mean), overClients(final?.accuracy_unmasked), true),
      tile("Network model", percent(final?.network_accuracy_masked), `${percent(final?.network_accuracy_unmasked)} unmasked`),
      paper ? tile("The paper reports", percent(paper.accuracy / 100), paper.setting)
        : tile("Training loss", decimals(final?.train_loss, 4), "mean over clients, last epoch"),
      tile("Rounds", isNumber(planned) && rounds < planned ? `${count(rounds)} of ${count(planned)}` : count(rounds), images || ""),
      tile("Time", seconds(summary?.seconds?.total), trainingShare(run)),
      tile("Sent", bytes(summary?.sent_bytes), isNumber(summary?.sent_bytes) ? `${count(summary.sent_bytes)} bytes` : ""),
      tile("Consensus error", significant(final?.consensus_error), "mean W₂² to the barycenter"),
    );
  };
  return { element, update };
}

function trainingShare(run: Run | undefined): string {
  const spent = run?.summary?.seconds;
  if (!isNumber(spent?.total) || !isNumber(spent?.train) || spent.total <= 0) return "";
  return `${((100 * spent.train) / spent.total).toFixed(0)} % of it training`;
}
