// Every picture, read by keyboard: its figures are those of the records.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { compared, oneRun } from "./fixtures.mjs";
import { image, openBrowser, percent, pictureOf, readBy, tile } from "./pages.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */ let browser;
before(async () => { browser = await openBrowser(); });
after(async () => { await browser.close(); });

/** Three significant digits. @param {number} value */
const significant = (value) => String(Number(value.toPrecision(3)));
/** @param {number} value */
const seconds = (value) => (value < 10 ? `${value.toFixed(2)} s` : `${value.toFixed(1)} s`);
/** @param {number} value */
const count = (value) => value.toLocaleString("en-US");

test("the top says which method ran on what, and how long it took", async () => {
  const data = oneRun({ rounds: 3, clients: 10 });
  const { page } = await browser.open(data);
  assert.equal(await page.locator(".lede").innerText(),
    "D-FROST on cifar10, mnist, fashion-mnist, svhn, notmnist · 10 clients · vit-b32 · seed 1 · started 2026-11-15 21:04 UTC");
  const { total } = data.runs[0].summary.seconds;
  assert.equal(await tile(page, "Time"), `${Math.floor(Math.round(total) / 60)}:${String(Math.round(total) % 60).padStart(2, "0")} min`);
  await page.close();
});

test("the charts over rounds have the figures of the last round at their end", async () => {
  const data = oneRun({ rounds: 6, clients: 10 });
  const last = data.runs[0].rounds[5];
  const { evaluation } = last;
  const domains = Object.values(evaluation.domains).map((/** @type {any} */ d) => percent(d.accuracy_masked));
  /** @type {Record<string, string[]>} */
  const expected = {
    "All domains": [percent(evaluation.accuracy_masked.mean), percent(evaluation.network_accuracy_masked)],
    "By domain": domains,
    "Loss": [last.train_loss, evaluation.loss, evaluation.network_loss].map((v) => v.toFixed(4)),
    "Consensus error": [significant(last.consensus_error)],
    "Merge error": [significant(last.merge_error)],
    "Off-index mass": [percent(last.off_index_mass)],
    "Dead prompts": [String(last.dead_prompts)],
    "Prompts per client": [significant(last.prompts_per_client)],
    "Mixing factor": [significant(last.active_mixing_factor)],
    "Seconds per round": ["train", "exchange", "merge", "measure", "evaluate"].map((stage) => seconds(last.seconds[stage])),
  };
  const { page } = await browser.open(data);
  for (const [title, figures] of Object.entries(expected)) {
    const lines = (await readBy(pictureOf(page, title).locator(".plot"), "End")).split("\n");
    assert.equal(lines[0], "Round 6");
    for (const figure of figures) assert.ok(lines.includes(figure), `${title}: ${figure} in ${lines.join(" | ")}`);
  }
  await page.close();
});

test("a figure that only the table knows has its chart and its column", async () => {
  const row = { name: "warmth.mean", title: "Warmth", unit: "K", form: "share", meaning: "How warm it was.", summary: "final.warmth",
    chart: "from_zero", column: { place: 9, name: "warmth", heading: "Warmth, %" } };
  const data = compared({ rounds: 3, clients: 10 });
  data.figures = [...data.figures, row];
  for (const run of data.runs) for (const round of run.rounds) round.warmth = { mean: round.round / 8 };
  for (const group of data.groups) group.warmth = { mean: 0.25, std: 0.125 };
  const { page } = await browser.open(data);
  assert.ok((await readBy(pictureOf(page, "Warmth").locator(".plot"), "End")).includes("37.50 %"));
  assert.equal(await pictureOf(page, "Warmth").locator("figcaption p").innerText(), row.meaning);
  const headings = await page.locator("table.figures thead th").allInnerTexts();
  assert.equal(headings[headings.length - 2], "Warmth, %");
  assert.equal(await page.locator("table.figures tbody tr").first().locator("td").nth(headings.length - 3).innerText(), "25.00 ± 12.50");
  await page.close();
});

test("where nobody sent anything there is no merge to draw, and where everyone diverged the test loss is still there", async () => {
  const data = oneRun({ rounds: 4, clients: 10 });
  for (const round of data.runs[0].rounds) Object.assign(round, { sent_messages: 0, merge_error: null, off_index_mass: null, dead_prompts: 0, train_loss: null });
  const { page } = await browser.open(data);
  for (const title of ["Merge error", "Off-index mass", "Dead prompts"]) {
    assert.equal(await pictureOf(page, title).locator(".nothing").innerText(), "Nothing to measure: there was no merge.");
  }
  const { evaluation } = data.runs[0].rounds[3];
  assert.ok((await readBy(pictureOf(page, "Loss").locator(".plot"), "End")).includes(evaluation.loss.toFixed(4)));
  await page.close();
});

test("the spread over clients is drawn as a band", async () => {
  const data = oneRun({ rounds: 6, clients: 10 });
  const wide = await browser.open(data);
  const canvas = (/** @type {import("playwright-core").Page} */ page) => pictureOf(page, "All domains").locator("canvas");
  const withBand = await image(canvas(wide.page));
  for (const round of data.runs[0].rounds) {
    const spread = round.evaluation.accuracy_masked;
    // The worst and the best client stay, so that the axis does: only the band of one deviation narrows.
    spread.std /= 2;
  }
  const narrow = await browser.open(data);
  assert.notEqual(await image(canvas(narrow.page)), withBand);
  await wide.page.close();
  await narrow.page.close();
});

test("of a single evaluation the spread is a bar, and what never happened is said", async () => {
  const data = oneRun({ rounds: 3, clients: 4, every: 3 });
  for (const round of data.runs[0].rounds) {
    round.dead_prompts = 0;
    round.theory.largest_ratio = 0;
  }
  const first = await browser.open(data);
  const drawn = await image(pictureOf(first.page, "All domains").locator("canvas"));
  assert.equal(await pictureOf(first.page, "Dead prompts").locator(".plot").innerText(), "None in 3 rounds.");
  assert.match(await first.page.locator("#checks .verdict").last().innerText(), /none broke the bound; every one came to a standstill\.$/);
  await first.page.close();
  data.runs[0].rounds[2].evaluation.accuracy_masked.std /= 2;
  const second = await browser.open(data);
  assert.notEqual(await image(pictureOf(second.page, "All domains").locator("canvas")), drawn);
  await second.page.close();
});

test("consensus error has a log scale: decades are equally far apart", async () => {
  const data = oneRun({ rounds: 3, clients: 4 });
  data.runs[0].rounds.forEach((/** @type {any} */ round, /** @type {number} */ i) => { round.consensus_error = 10 ** -i; });
  const { page } = await browser.open(data);
  const picture = pictureOf(page, "Consensus error");
  const heights = [];
  for (const keys of [["Home"], ["ArrowRight"], ["ArrowRight"]]) {
    await readBy(picture.locator(".plot"), ...keys);
    heights.push(await picture.locator(".u-cursor-pt").first().evaluate((point) => point.getBoundingClientRect().y));
  }
  const [high, middle, low] = /** @type {[number, number, number]} */ (heights);
  assert.ok(middle - high > 20);
  assert.ok(Math.abs((low - middle) - (middle - high)) < 3, heights.join(", "));
  await page.close();
});

test("the partition's cells have the pictures that each client holds", async () => {
  const data = oneRun({ rounds: 2, clients: 10 });
  const { partition, clients } = data.runs[0].about;
  const { page } = await browser.open(data);
  const map = page.locator("#partition canvas");
  assert.match(await readBy(map, "ArrowRight", "ArrowRight"), new RegExp(`^Client 0, cifar10 1\n${count(partition[0][1])} pictures?\nof ${count(clients[0].samples)} that`));
  assert.match(await readBy(map, "ArrowDown"), new RegExp(`^Client 1, cifar10 1\n${count(partition[1][1])} pictures?\nof ${count(clients[1].samples)} that`));
  await page.close();
});

test("the graph colours clients by domain, and dashes the links that failed", async () => {
  const data = oneRun({ rounds: 2, clients: 10, failures: 0.3 });
  const { page } = await browser.open(data);
  const clients = await page.locator(".graph .client").evaluateAll((nodes) => nodes.map((node) => node.getAttribute("stroke")));
  const { clients: owners } = data.runs[0].about;
  assert.equal(new Set(clients).size, 5);
  clients.forEach((colour, u) => assert.equal(colour, clients[owners.findIndex((/** @type {any} */ o) => o.domain === owners[u].domain)]));
  const dashOf = (/** @type {string} */ links) => page.locator(links).first().evaluate((link) => getComputedStyle(link).strokeDasharray);
  assert.equal(await dashOf(".graph .link:not(.failed)"), "none");
  assert.notEqual(await dashOf(".graph .link.failed"), "none");
  const said = await readBy(page.locator(".graph"), "ArrowRight");
  assert.match(said, /^Client 0\ndomain\ncifar10\npictures\n/);
  await page.close();
});

test("clients that have names are called by them", async () => {
  const data = oneRun({ rounds: 2, clients: 10 });
  const { about, merges } = data.runs[0];
  assert.equal(merges[0].client, 0);
  about.clients.forEach((/** @type {any} */ client, /** @type {number} */ u) => (client.name = `Hospital ${"ABCDEFGHIJ"[u]}`));
  const { page } = await browser.open(data);
  assert.match(await readBy(page.locator("#partition canvas"), "ArrowRight"), /^Hospital A, cifar10 0\n/);
  assert.match(await readBy(page.locator(".graph"), "ArrowRight"), /^Hospital A\n[^]*talked to\nHospital [B-J](, Hospital [B-J])*/);
  assert.match(await page.locator("#merges figcaption").first().innerText(), /met at Hospital A in/);
  assert.match(await page.locator("#merges .legend li").first().innerText(), /^Hospital A \(cifar10\), own$/);
  assert.match(await readBy(page.locator(".plane"), "ArrowRight"), /\nHospital [A-J], prompt \d/);
  await page.getByRole("button", { name: "Heat map" }).click();
  assert.match(await readBy(page.locator("#merges canvas"), "ArrowRight"), /^Hospital A, prompt 0 → 0\n/);
  await page.close();
});

test("the plan of a merge is the recorded one, as links and as a heat map", async () => {
  const data = oneRun({ rounds: 2, clients: 10 });
  const merge = data.runs[0].merges.filter((/** @type {any} */ m) => m.client === 0).at(-1);
  const { page } = await browser.open(data);
  assert.equal(await page.locator(".plane .mass").count(), merge.plan.length);
  assert.equal(await page.locator(".plane .merged").count(), merge.merged.length);
  assert.equal(await page.locator(".plane .sent").count(), merge.senders.length * 10);
  await page.getByRole("button", { name: "Heat map" }).click();
  const share = merge.plan.find((/** @type {number[]} */ p) => p[0] === 0 && p[1] === 0 && p[2] === 0)[3];
  assert.equal(await readBy(page.locator("#merges canvas"), "ArrowRight"), `Client 0, prompt 0 → 0\nshare of its mass\n${(100 * share).toFixed(0)} %`);
  await page.close();
});

test("the configuration, version, seed and machine stand at the end", async () => {
  const data = oneRun({ rounds: 2, clients: 4 });
  const { page } = await browser.open(data);
  await page.locator("#reproduce summary").click();
  assert.equal(await page.locator("#reproduce details pre").textContent(), data.runs[0].config);
  const facts = await page.locator("#reproduce .facts").innerText();
  for (const fact of ["dfrost 0.1.0", "AMD EPYC, 2 cores, 2 threads, fp32", "vit-b32", "cifar10 (20,000 + 2,000)"]) assert.ok(facts.includes(fact), fact);
  await page.close();
});
