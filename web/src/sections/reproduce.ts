// How to run it again, and the configuration it ran with.
import { shownRun, type App, type Section } from "../app";
import { copyButton, html } from "../dom";
import { count, moment, plural } from "../format";
import type { About } from "../records";
import { part } from "./section";

function machineOf(about: About): string | undefined {
  const { cpu, cores, threads, precision } = about.machine ?? {};
  const parts = [cpu, cores !== undefined && `${cores} cores`, threads !== undefined && `${threads} threads`, precision];
  return parts.filter(Boolean).join(", ") || undefined;
}

function backboneOf(about: About): string | undefined {
  const b = about.backbone;
  if (!b) return undefined;
  const parts = [
    b.name, b.family, b.width !== undefined && `width ${b.width}`, b.depth !== undefined && plural(b.depth, "block"),
    b.patch !== undefined && `patches of ${b.patch}`, b.image_size !== undefined && `${b.image_size} pixels`,
  ];
  return parts.filter(Boolean).join(", ") || undefined;
}

function dataOf(about: About): string | undefined {
  const of = (n: number | undefined) => count(n ?? null);
  return about.domains?.map((d) => `${d.name} (${of(d.train)} + ${of(d.test)})`).join(", ") || undefined;
}

function resumptionsOf(about: About): string | undefined {
  const one = (r: { after_round?: number; time?: string; version?: string }) =>
    [`after round ${r.after_round}`, r.time && moment(r.time), r.version && r.version !== about.version && `dfrost ${r.version}`]
      .filter(Boolean).join(", ");
  return about.resumed?.map(one).join("; ") || undefined;
}

export function reproduce(app: App): Section {
  const command = html("code", {});
  const config = html("code", {});
  const facts = html("dl", { class: "facts" });
  const commandBox = html("div", { class: "code" }, html("pre", {}, command), copyButton("the command", command));
  const configBox = html("div", { class: "code" }, html("pre", { tabindex: 0, "aria-label": "Configuration" }, config), copyButton("the configuration", config));
  const again = html("code", {});
  const details = html("details", {}, html("summary", {}, "The resolved configuration"),
    html("p", { class: "note" }, "Every key as it was run; the run's folder has it as config.toml. It runs again whatever has become of the file above: ", again),
    configBox);
  const missing = html("p", { class: "nothing" }, "This run did not record how it was started.");
  const element = part("reproduce", "Run it again",
    "The same command, version and seed give the same results to the last bit, on any number of threads. A run that is there is never overwritten: move it, or add --set run.name=… for another.",
    commandBox, missing, facts, details);

  const update = () => {
    const run = shownRun(app);
    const about = run?.about;
    const seed = run?.summary?.seed ?? about?.seed;
    const rows: [string, string | undefined][] = [
      ["method", run?.summary?.method ?? about?.method],
      ["seed", seed === undefined ? undefined : String(seed)],
      ["version", about?.version === undefined ? undefined : `dfrost ${about.version}`],
      ["started", about?.started === undefined ? undefined : moment(about.started)],
      ["resumed", about ? resumptionsOf(about) : undefined],
      ["started in", about?.working_folder],
      ["machine", about ? machineOf(about) : undefined],
      ["backbone", about ? backboneOf(about) : undefined],
      ["data (train + test)", about ? dataOf(about) : undefined],
      ["folder", run?.folder],
    ];
    command.textContent = about?.command ?? "";
    commandBox.hidden = !about?.command;
    missing.hidden = !commandBox.hidden;
    facts.replaceChildren(...rows.filter(([, value]) => value !== undefined && value !== "")
      .map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value!))));
    if (config.textContent !== (run?.config ?? "")) config.textContent = run?.config ?? "";
    again.textContent = `dfrost run ${run?.folder ?? run?.name}/config.toml --set run.name=again`;
    details.hidden = !run?.config;
  };
  return { element, update };
}
