// Makes documents like those of `dfrost report`, the same ones every time: runs with the figures, graphs, partitions
// and merges of a plausible federation, at any size. The table of figures is that of the executable itself.
import { execFileSync } from "node:child_process";

/** Where the executable is; the build says. */
const DFROST = process.env.DFROST ?? new URL("../../build/release/dfrost", import.meta.url).pathname;

/** As every report has it. @type {any[]} */
export const FIGURES = JSON.parse(execFileSync(DFROST, ["export", "--figures", "--json"], { encoding: "utf8" }));

/** A small generator of numbers in [0, 1), so that documents do not change between runs. @param {number} seed */
export function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const DOMAINS = ["cifar10", "mnist", "fashion-mnist", "svhn", "notmnist"];
/** The final accuracy of a method, how fast it gets there, and how its clients agree. @type {Record<string, number[]>} */
const METHODS = {
  "D-FROST": [0.79, 7, 0.2], "DFedAvgM-PT": [0.71, 9, 0.5], "DFedSAM-PT": [0.66, 11, 0.7], "D-PSGD-PT": [0.18, 30, 0.9],
};

/**
 * @typedef {{method?: string, seed?: number, rounds?: number, clients?: number, every?: number, name?: string,
 *            domains?: string[], failures?: number}} RunOptions
 */

/** @param {RunOptions} options */
export function makeRun(options = {}) {
  const { method = "D-FROST", seed = 1, rounds = 40, clients = 50, every = 1, domains = DOMAINS, failures = 0.1 } = options;
  const name = options.name ?? `${method.toLowerCase()}-${seed}`;
  const random = numbers(seed * 7919 + method.length * 104729);
  const perDomain = Math.ceil(clients / domains.length);
  const owners = Array.from({ length: clients }, (_, i) => ({ domain: Math.floor(i / perDomain), samples: 0, prompts: 10 }));
  const partition = owners.map((owner) => {
    const row = domains.flatMap((_, d) => Array.from({ length: 10 }, () => (d === owner.domain ? Math.floor(700 * random() ** 6) : 0)));
    owner.samples = row.reduce((sum, n) => sum + n, 0);
    return row;
  });
  const lines = Array.from({ length: rounds }, (_, i) => makeRound(i + 1, { method, clients, domains, failures, evaluates: (i + 1) % every === 0 || i + 1 === rounds }, random));
  const totals = { train: 0, exchange: 0, merge: 0, evaluate: 0, measure: 0, total: 0 };
  for (const line of lines) for (const [stage, spent] of Object.entries(line.seconds)) totals[/** @type {keyof typeof totals} */ (stage)] += spent;
  const last = lines[lines.length - 1];
  const merges = lines.filter((line) => line.evaluation)
    .flatMap((line) => domains.map((_, d) => makeMerge(line.round, d * perDomain, clients, random)));
  return {
    name,
    folder: name,
    problems: [],
    summary: last ? {
      schema: 1, name, method: method.toLowerCase(), seed, rounds, clients,
      final: { consensus_error: last.consensus_error, train_loss: last.train_loss, off_index_mass: last.off_index_mass, ...last.evaluation },
      seconds: totals, sent_bytes: lines.reduce((sum, line) => sum + line.sent_bytes, 0), images: rounds * 100000,
    } : null,
    about: {
      schema: 1, name, method: method.toLowerCase(), seed, version: "0.1.0", started: "2026-11-15T21:04:05Z",
      command: `dfrost run five.toml --set run.seed=${seed} --set method.name=${method.toLowerCase()}`,
      machine: { cpu: "AMD EPYC", cores: 2, threads: 2, precision: "fp32" },
      backbone: { name: "vit-b32", family: "torchvision", width: 768, depth: 12, patch: 32, image_size: 224 },
      domains: domains.map((domain, d) => ({
        name: domain, classes: Array.from({ length: 10 }, (_, c) => (domain === "notmnist" ? "ABCDEFGHIJ"[c] : String(c))),
        first_label: 10 * d, train: 20000, test: 2000,
      })),
      clients: owners,
      partition,
    },
    rounds: lines,
    merges,
    config: `# Every key, as it was run.\n[run]\nname = "${name}"\nseed = ${seed}\nrounds = ${rounds}\n\n[method]\nname = "${method.toLowerCase()}"\n\n[network]\ntopology = "regular"\ndegree = 5\n`,
    paper: { setting: "FiveDataset, Dirichlet 0.1, regular", accuracy: [79.36, 70.88, 66.74, 18.14][Object.keys(METHODS).indexOf(method)] ?? 0 },
  };
}

/**
 * @param {number} round
 * @param {{method: string, clients: number, domains: string[], failures: number, evaluates: boolean}} options
 * @param {() => number} random
 */
function makeRound(round, { method, clients, domains, failures, evaluates }, random) {
  const [best, speed, agreement] = /** @type {[number, number, number]} */ (METHODS[method] ?? [0.7, 8, 0.4]);
  const progress = 1 - Math.exp(-round / speed);
  const mean = 0.1 + (best - 0.1) * progress + 0.012 * (random() - 0.5);
  const graph = makeGraph(clients, failures, random);
  const among = 0.79 + 0.06 * random();
  /** @param {number} centre @param {number} std */
  const spread = (centre, std) => ({ mean: centre, std, min: centre - 2.1 * std, max: centre + 1.8 * std });
  /** @param {number} centre */
  const byDomain = (centre) => Object.fromEntries(domains.map((name, d) => {
    const own = Math.min(0.99, centre * (0.8 + 0.11 * d) + 0.01 * random());
    return [name, { accuracy_masked: own, accuracy_unmasked: own * 0.82 }];
  }));
  const seconds = { train: 38 + 3 * random(), exchange: 0.4 + 0.1 * random(), merge: 1.9 + 0.4 * random(), evaluate: evaluates ? 11 + random() : 0, measure: 2.2 + random() };
  return {
    schema: 1,
    round,
    train_loss: 2.2 * Math.exp(-round / (speed * 1.6)) + 0.08 + 0.02 * random(),
    images: 100000,
    diverged_clients: 0,
    consensus_error: agreement * 0.4 * Math.exp(-round / 6) + 0.0021 * (1 + 0.2 * random()),
    merge_error: 0.02 + agreement * 0.3 * Math.exp(-round / 9) + 0.004 * random(),
    off_index_mass: method === "D-FROST" ? 0.3 * progress + 0.02 * random() : 0,
    prompts_per_client: 10, dropped_prompts: 0,
    dead_prompts: method === "D-FROST" ? Math.floor(3 * random() * Math.exp(-round / 10)) : 0,
    mixing_factor: graph.absent.length > 0 ? 1 : among,
    active_mixing_factor: among,
    edges: graph.links.length,
    failed_edges: graph.failed.length,
    absent_clients: graph.absent.length,
    sent_bytes: graph.links.length * 2 * 185344,
    sent_messages: graph.links.length * 2,
    refused_messages: 0,
    missing_messages: 0,
    seconds: { ...seconds, total: Object.values(seconds).reduce((sum, s) => sum + s, 0) },
    ...(method === "D-FROST" ? { theory: { checked: clients - graph.absent.length, violated: 0, largest_ratio: 0.004 + 0.02 * Math.exp(-round / 8) * (1 + random()) } } : {}),
    ...(evaluates ? { evaluation: {
      clients: Array.from({ length: clients }, (_, i) => i), samples: 10000,
      accuracy_masked: spread(mean, 0.02 + 0.05 * (1 - progress)), accuracy_unmasked: spread(mean * 0.84, 0.02 + 0.04 * (1 - progress)),
      loss: 2.3 * (1 - 0.8 * progress), domains: byDomain(mean),
      network_accuracy_masked: mean + 0.02 * progress, network_accuracy_unmasked: mean * 0.86 + 0.015 * progress,
      network_loss: 2.25 * (1 - 0.82 * progress), network_domains: byDomain(mean + 0.02 * progress),
    } } : {}),
    graph,
  };
}

/** Three permuted rings laid over each other. @param {number} clients @param {number} failures @param {() => number} random */
function makeGraph(clients, failures, random) {
  /** @type {number[][]} */ const links = [];
  /** @type {number[][]} */ const failed = [];
  const seen = new Set();
  const absent = failures > 0 ? Array.from({ length: clients }, (_, i) => i).filter(() => random() < 0.05) : [];
  for (let ring = 0; ring < 3; ring++) {
    const order = Array.from({ length: clients }, (_, i) => ({ i, key: random() })).sort((a, b) => a.key - b.key).map((o) => o.i);
    order.forEach((u, at) => {
      const v = /** @type {number} */ (order[(at + 1) % clients]);
      const key = `${Math.min(u, v)} ${Math.max(u, v)}`;
      if (u === v || seen.has(key) || absent.includes(u) || absent.includes(v)) return;
      seen.add(key);
      (random() < failures ? failed : links).push([Math.min(u, v), Math.max(u, v)]);
    });
  }
  return { links, failed, absent };
}

/** @param {number} round @param {number} client @param {number} clients @param {() => number} random */
function makeMerge(round, client, clients, random) {
  const rounded = (/** @type {number} */ v) => Math.round(v * 1e4) / 1e4;
  const centres = Array.from({ length: 10 }, () => [2 * random() - 1, 1.4 * random() - 0.7]);
  const spread = 0.12 + 0.25 * Math.exp(-round / 12);
  const senders = Array.from({ length: Math.min(6, clients) }, (_, s) => ({
    client: s === 0 ? client : (client + s * 7) % clients,
    points: centres.map((_, i) => {
      const [x, y] = /** @type {number[]} */ (centres[(i + s) % 10]);
      return [rounded((x ?? 0) + spread * (random() - 0.5)), rounded((y ?? 0) + spread * (random() - 0.5))];
    }),
  }));
  const plan = senders.flatMap((_, s) => centres.flatMap((_, i) => {
    const share = rounded(0.75 + 0.25 * random());
    return [[s, i, (i + s) % 10, share], ...(share < 0.98 ? [[s, i, (i + s + 1) % 10, rounded(1 - share)]] : [])];
  }));
  return { schema: 1, round, client, kind: "ot", variance: [0.61, 0.22], senders, merged: centres.map((c) => c.map(rounded)), dead: round < 3 ? [9] : [], plan };
}

/** @param {number[]} values */
function meanStd(values) {
  const mean = values.reduce((sum, v) => sum + v, 0) / values.length;
  const square = values.reduce((sum, v) => sum + (v - mean) ** 2, 0);
  return { mean, std: values.length > 1 ? Math.sqrt(square / (values.length - 1)) : 0 };
}

/** @param {ReturnType<typeof makeRun>[]} runs @param {string} label @param {number[]} members */
function makeGroup(runs, label, members) {
  /** @param {(summary: any) => number} of */
  const over = (of) => meanStd(members.map((i) => of(runs[i]?.summary)));
  return {
    label, runs: members, seeds: members.map((i) => runs[i]?.about.seed),
    accuracy_masked: over((s) => s.final.accuracy_masked.mean), accuracy_unmasked: over((s) => s.final.accuracy_unmasked.mean),
    network_accuracy_masked: over((s) => s.final.network_accuracy_masked), network_accuracy_unmasked: over((s) => s.final.network_accuracy_unmasked),
    consensus_error: over((s) => s.final.consensus_error), seconds: over((s) => s.seconds.total), sent_bytes: over((s) => s.sent_bytes),
    paper: runs[members[0] ?? 0]?.paper ?? null,
  };
}

/** @param {RunOptions} options @returns {any} */
export function oneRun(options = {}) {
  const run = makeRun(options);
  return { schema: 1, generator: "dfrost 0.1.0", live: false, title: run.name, figures: FIGURES, runs: [run], groups: run.summary ? [makeGroup([run], options.method ?? "D-FROST", [0])] : [] };
}

/** Four methods, three seeds each. @param {RunOptions} options @returns {any} */
export function compared(options = {}) {
  const methods = Object.keys(METHODS);
  const runs = methods.flatMap((method) => [1, 2, 3].map((seed) => makeRun({ ...options, method, seed })));
  const groups = methods.map((method, m) => makeGroup(runs, method, [3 * m, 3 * m + 1, 3 * m + 2]));
  return { schema: 1, generator: "dfrost 0.1.0", live: false, title: "FiveDataset, Dirichlet 0.1", figures: FIGURES, runs, groups };
}
