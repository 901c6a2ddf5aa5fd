// Who holds what: the training pictures of each client by class.
import { shownRun, type App, type Section } from "../app";
import { HeatMap } from "../charts/heat_map";
import { clientTitle, shortClientName } from "../clients";
import { choice, html } from "../dom";
import { count, plural } from "../format";
import type { About, Domain } from "../records";
import { figure, part } from "./section";

interface ClassColumn {
  label: string;
  domain: Domain;
}

/** The columns of the partition: every class of every domain, in the order of the labels. */
function classesOf(about: About, columns: number): ClassColumn[] {
  const list: ClassColumn[] = [];
  for (const domain of about.domains ?? []) {
    (domain.classes ?? []).forEach((label, i) => (list[(domain.first_label ?? 0) + i] = { label: String(label), domain }));
  }
  const unknown: Domain = { name: "" };
  return Array.from({ length: columns }, (_, c) => list[c] ?? { label: String(c), domain: unknown });
}

export function partition(app: App): Section {
  const map = new HeatMap();
  const form = choice("What the colour means", [["count", "Pictures"], ["share", "Share of the client"]], app.state.partitionForm, (value) => {
    app.state.partitionForm = value;
    app.changed();
  });
  const picture = figure("Client × class", "Training pictures; a row is a client, a column a class.", map.element, form.element);
  const missing = html("p", { class: "nothing" }, "This run did not record its partition.");
  const element = part("partition", "Who holds what",
    "The stronger a cell's colour, the more of a class a client holds. Even rows would be easy; stripes are what makes federated learning hard.",
    picture, missing);

  const update = () => {
    const about = shownRun(app)?.about;
    const table = about?.partition ?? [];
    missing.hidden = table.length > 0;
    picture.hidden = table.length === 0;
    if (!about || table.length === 0) return;
    const columns = Math.max(...table.map((row) => row.length));
    const classes = classesOf(about, columns);
    const sums = table.map((row) => row.reduce((sum, n) => sum + n, 0));
    const most = Math.max(1, ...table.flat());
    const breaksIn = (same: (i: number) => unknown, length: number) =>
      Array.from({ length }, (_, i) => i).filter((i) => i > 0 && same(i) !== same(i - 1));
    const columnBreaks = breaksIn((c) => classes[c]!.domain, columns);
    const starts = [0, ...columnBreaks];
    map.update({
      rows: table.length,
      columns,
      // The square root: a few hundred pictures of a class still show beside thousands of another.
      share: (row, column) => {
        const n = table[row]?.[column] ?? 0;
        return app.state.partitionForm === "count" ? Math.sqrt(n / most) : n / Math.max(sums[row]!, 1);
      },
      title: (row, column) => `${clientTitle(about, row)}, ${classes[column]!.domain.name} ${classes[column]!.label}`.trim(),
      facts: (row, column) => [
        { label: plural(table[row]?.[column] ?? 0, "picture") },
        { label: `of ${count(sums[row])} that the client holds` },
      ],
      rowLabel: (row) => shortClientName(about, row),
      columnLabel: (column) => classes[column]!.label,
      rowBreaks: breaksIn((r) => about.clients?.[r]?.domain, table.length),
      columnBreaks,
      columnGroups: starts.map((first, i) => ({ first, last: (starts[i + 1] ?? columns) - 1, label: classes[first]!.domain.name })),
      inWords: `Training pictures of ${plural(table.length, "client")} in ${plural(columns, "class").replace("classs", "classes")}. Arrow keys read the cells.`,
    });
  };
  return { element, update };
}
