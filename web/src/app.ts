// What is shown and how: the document and the reader's choices. Sections read it in update() and call changed()
// when the reader chooses something.
import type { ReportDocument, Run } from "./records";

export interface State {
  /** Keys of the curves that the legend switched off. */
  hidden: Set<string>;
  mask: "masked" | "unmasked";
  who: "clients" | "network";
  /** Which run the sections about one run show. */
  run: number;
  /** The round whose network is shown; null follows the newest. */
  round: number | null;
  mergeClient: number | null;
  /** null follows the newest. */
  mergeRound: number | null;
  mergeForm: "links" | "table";
  partitionForm: "count" | "share";
}

export interface App {
  report: ReportDocument;
  state: State;
  changed(): void;
}

export interface Section {
  element: HTMLElement;
  update(): void;
}

export function startState(): State {
  return {
    hidden: new Set(),
    mask: "masked",
    who: "clients",
    run: 0,
    round: null,
    mergeClient: null,
    mergeRound: null,
    mergeForm: "links",
    partitionForm: "count",
  };
}

export function shownRun(app: App): Run | undefined {
  return app.report.runs[app.state.run] ?? app.report.runs[0];
}
