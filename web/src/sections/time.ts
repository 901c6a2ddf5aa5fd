// Where the time of each round went.
import { shownRun, type App, type Section } from "../app";
import { LineChart } from "../charts/line_chart";
import { plainLegend } from "../charts/legend";
import { html } from "../dom";
import { isNumber, seconds, significant } from "../format";
import { seriesColour } from "../theme";
import { figure, part } from "./section";

const STAGES: [name: string, colour: number][] = [["train", 0], ["exchange", 5], ["merge", 1], ["measure", 2], ["evaluate", 3]];

export function time(app: App): Section {
  const chart = new LineChart("Seconds per stage", "wide");
  const legend = html("div", {});
  const element = part("time", "Where the time went", "", figure("Seconds per round", "Wall clock of each stage, stacked.", chart.element, legend));
  const update = () => {
    const run = shownRun(app);
    const rounds = (run?.rounds ?? []).filter((r) => isNumber(r.seconds?.total));
    const lines = STAGES.map(([name, colour]) => ({
      label: name, values: rounds.map((r) => r.seconds?.[name]), colour: seriesColour(colour),
    }));
    const spent = run?.summary?.seconds;
    legend.replaceChildren(plainLegend(lines.map((l) => ({
      key: l.label, colour: l.colour, mark: "square",
      label: isNumber(spent?.[l.label]) ? `${l.label} ${seconds(spent[l.label])}` : l.label,
    }))));
    chart.update({ x: rounds.map((r) => r.round), lines, format: seconds, tick: (v) => `${significant(v)} s`, stacked: true, height: 240 });
  };
  return { element, update };
}
