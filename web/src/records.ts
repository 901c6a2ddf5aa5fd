// The document that a report shows, as docs/reference/report-data.md states it. Everything that an older, newer,
// empty or broken run may lack is optional here, so that the compiler asks what to show without it.

export const KNOWN_SCHEMA = 1;

export type Figure = number | null | undefined;

export type Form = "whole" | "significant" | "decimals" | "share" | "seconds" | "bytes";

/** A row of the table of figures: what is recorded of a round, what it means, and where it is shown. */
export interface FigureRow {
  /** Its path in a round: "evaluation.accuracy_masked.mean". */
  name: string;
  title: string;
  unit: string;
  form: Form;
  meaning: string;
  better?: "lower" | "higher";
  /** Its path in a summary. */
  summary?: string;
  chart?: "from_zero" | "zero_to_one" | "log";
  /** A round without merges has no such figure, whatever it counts. */
  only_with_merges?: boolean;
  /** In the table of several runs, from left to right; `name` is that in a group. */
  column?: { place: number; name: string; heading: string };
}

export interface Spread {
  mean?: Figure;
  std?: Figure;
  min?: Figure;
  max?: Figure;
}

export interface DomainAccuracy {
  accuracy_masked?: Figure;
  accuracy_unmasked?: Figure;
}

export interface Evaluation {
  clients?: number[];
  samples?: number;
  accuracy_masked?: Spread;
  accuracy_unmasked?: Spread;
  loss?: Figure;
  domains?: Record<string, DomainAccuracy>;
  network_accuracy_masked?: Figure;
  network_accuracy_unmasked?: Figure;
  network_loss?: Figure;
  network_domains?: Record<string, DomainAccuracy>;
}

export type Link = [number, number];

/** Who talked to whom in a round; left out by runs with very many clients. */
export interface Graph {
  links?: Link[];
  failed?: Link[];
  absent?: number[];
}

export type StageSeconds = Record<string, Figure>;

/** Theorem 1 held against the merges of a round; only where the run was asked to. */
export interface Theory {
  checked?: Figure;
  violated?: Figure;
  /** The largest of what a merge's smallest step came to, as a share of what the theorem allows. */
  largest_ratio?: Figure;
}

/** What hostile clients did to the others; only where there are any. */
export interface Attack {
  clients?: number[];
  mass?: Figure;
  distance?: Figure;
  backdoor_success?: Figure;
  honest_accuracy_masked?: Spread;
}

/** Who doubted whom, as pairs of a client and a sender; only where merges defend themselves. */
export interface Defence {
  doubted?: Record<string, Link[]>;
}

/** A line of metrics.jsonl. */
export interface Round {
  schema?: number;
  round: number;
  train_loss?: Figure;
  images?: Figure;
  diverged_clients?: Figure;
  consensus_error?: Figure;
  merge_error?: Figure;
  off_index_mass?: Figure;
  dead_prompts?: Figure;
  prompts_per_client?: Figure;
  dropped_prompts?: Figure;
  mixing_factor?: Figure;
  active_mixing_factor?: Figure;
  edges?: Figure;
  failed_edges?: Figure;
  absent_clients?: Figure;
  sent_bytes?: Figure;
  sent_messages?: Figure;
  refused_messages?: Figure;
  missing_messages?: Figure;
  seconds?: StageSeconds;
  evaluation?: Evaluation;
  graph?: Graph;
  theory?: Theory;
  attack?: Attack;
  defence?: Defence;
}

export type Point = [number, number];

/** A line of merges.jsonl: one client's merge, projected on its two principal axes. */
export interface Merge {
  round: number;
  client: number;
  kind?: string;
  variance?: number[];
  senders?: { client: number; points: Point[] }[];
  merged?: Point[];
  dead?: number[];
  /** [position in senders, its prompt, merged prompt, share of the prompt's mass] */
  plan?: [number, number, number, number][];
}

export interface Summary {
  schema?: number;
  name?: string;
  method?: string;
  seed?: number;
  rounds?: number;
  clients?: number;
  final?: Evaluation & { consensus_error?: Figure; train_loss?: Figure; off_index_mass?: Figure };
  seconds?: StageSeconds;
  sent_bytes?: Figure;
  images?: Figure;
}

export interface Domain {
  name: string;
  classes?: string[];
  first_label?: number;
  train?: number;
  test?: number;
}

/** about.json: what was known when the run started. */
export interface About {
  schema?: number;
  name?: string;
  method?: string;
  seed?: number;
  version?: string;
  started?: string;
  command?: string;
  working_folder?: string;
  resumed?: { after_round?: number; time?: string; version?: string }[];
  machine?: { cpu?: string; cores?: number; threads?: number; precision?: string };
  backbone?: { name?: string; family?: string; width?: number; depth?: number; patch?: number; image_size?: number };
  domains?: Domain[];
  clients?: { name?: string; domain?: number; samples?: number; prompts?: number; hostile?: boolean }[];
  partition?: number[][];
}

/** A result of the paper in the same setting; the accuracy in percent. */
export interface PaperResult {
  setting: string;
  accuracy: number;
}

/** Another member of a federation, as a site sees it. */
export interface PeerMember {
  number: number;
  name?: string;
  neighbour?: boolean;
  awaited?: boolean;
  linked?: boolean;
  alive?: boolean;
  round?: Figure;
  stage?: string;
  silent_seconds?: Figure;
  round_trip_seconds?: Figure;
  usual_seconds?: Figure;
  sent_bytes?: Figure;
  received_bytes?: Figure;
  missing_messages?: Figure;
  reconnects?: Figure;
  trouble?: string;
}

/** peer.json: how a site of a federation is, once a second. */
export interface Peer {
  name?: string;
  number?: number;
  federation?: string;
  rounds?: Figure;
  round?: Figure;
  done?: Figure;
  stage?: string;
  waiting_for?: string;
  last_merge_round?: Figure;
  jumps?: Figure;
  adoptions?: Figure;
  missing_messages?: Figure;
  ended?: string;
  members?: PeerMember[];
}

export interface Run {
  name: string;
  folder?: string;
  problems?: string[];
  summary?: Summary | null;
  about?: About | null;
  peer?: Peer | null;
  rounds: Round[];
  /** As the experiment asks for; a run that was stopped has done fewer. */
  planned_rounds?: number | null;
  merges: Merge[];
  config?: string | null;
  paper?: PaperResult | null;
}

export interface MeanStd {
  mean?: Figure;
  std?: Figure;
}

/** Runs that differ only in seed and name. Besides, a MeanStd under the name of each figure that has a column. */
export interface Group {
  label: string;
  runs: number[];
  seeds?: number[];
  paper?: PaperResult | null;
}

export interface ReportDocument {
  schema: number;
  generator?: string;
  live?: boolean;
  title?: string;
  figures: FigureRow[];
  runs: Run[];
  groups: Group[];
}

/** What a live page receives. */
export interface LiveEvent {
  replace?: unknown;
  append?: { run?: number; rounds?: Round[]; merges?: Merge[]; summary?: Summary | null; peer?: Peer | null; groups?: Group[] };
}

/** The value as a document, with the lists that everything else relies on in place. */
export function asDocument(value: unknown): ReportDocument {
  const raw = (typeof value === "object" && value !== null ? value : {}) as Partial<ReportDocument>;
  const runs = (Array.isArray(raw.runs) ? raw.runs : []).map((run, i) => ({
    ...run,
    name: String(run.name ?? run.folder ?? `run ${i + 1}`),
    rounds: inOrder(run.rounds),
    merges: inOrder(run.merges),
  }));
  const groups = (Array.isArray(raw.groups) ? raw.groups : []).map((group) => ({
    ...group,
    label: String(group.label ?? ""),
    runs: (Array.isArray(group.runs) ? group.runs : []).filter((i) => i in runs),
  }));
  const figures = Array.isArray(raw.figures) ? raw.figures : [];
  return { ...raw, schema: raw.schema ?? KNOWN_SCHEMA, figures, runs, groups: groups.filter((g) => g.runs.length > 0) };
}

/** What stands at a path such as "seconds.total"; nothing where there is no number. */
export function figureAt(record: object | null | undefined, path: string): Figure {
  let value: unknown = record;
  for (const key of path.split(".")) value = (value as Record<string, unknown> | null | undefined)?.[key];
  return typeof value === "number" ? value : null;
}

/** The document with what an event brought; a round that is already there is replaced, not doubled. */
export function withEvent(report: ReportDocument, event: LiveEvent): ReportDocument {
  if (event.replace !== undefined) return asDocument(event.replace);
  const { append } = event;
  if (!append) return report;
  const position = append.run ?? 0;
  const runs = report.runs.map((run, i) => {
    if (i !== position) return run;
    const rounds = append.rounds ?? [];
    const merges = append.merges ?? [];
    const isNew = new Set(rounds.map((r) => r.round));
    const isNewMerge = new Set(merges.map((m) => `${m.round} ${m.client}`));
    return {
      ...run,
      rounds: inOrder([...run.rounds.filter((r) => !isNew.has(r.round)), ...rounds]),
      merges: inOrder([...run.merges.filter((m) => !isNewMerge.has(`${m.round} ${m.client}`)), ...merges]),
      summary: append.summary ?? run.summary,
      peer: append.peer ?? run.peer,
    };
  });
  return asDocument({ ...report, runs, groups: append.groups ?? report.groups });
}

function inOrder<T extends { round: number }>(lines: T[] | undefined): T[] {
  if (!Array.isArray(lines)) return [];
  return lines.filter((line) => typeof line?.round === "number").sort((a, b) => a.round - b.round);
}
