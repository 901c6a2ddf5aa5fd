// The page as a reader meets it: opened from disk in the system's Chromium.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { compared, makeRun, oneRun } from "./fixtures.mjs";
import { image, inked, openBrowser, pageWith, percent, tile } from "./pages.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */ let browser;
before(async () => { browser = await openBrowser(); });
after(async () => { await browser.close(); });

test("a run opens from disk without a complaint or a request, and every chart is drawn", async () => {
  const { page, complaints } = await browser.open(oneRun());
  const canvases = page.locator(".plot canvas, .heat:visible canvas");
  await canvases.first().waitFor();
  assert.equal(await canvases.count(), 12);  // accuracy, domains, seven measures, time, partition, Theorem 1
  for (const canvas of await canvases.all()) assert.ok(await inked(canvas) > 500);
  assert.equal(await page.locator(".graph .client").count(), 50);
  assert.ok(await page.locator(".plane .mass").count() > 50);
  assert.equal(await page.title(), "d-frost-1 · dfrost report");
  assert.deepEqual(complaints, []);
  await page.close();
});

test("the page of 40 rounds and 50 clients stays under 1.5 MB", () => {
  assert.ok(Buffer.byteLength(pageWith(oneRun({ rounds: 40, clients: 50 }))) < 1.5e6);
});

test("the headline's figures are those of the summary", async () => {
  const data = oneRun();
  const { final, rounds, sent_bytes } = data.runs[0].summary;
  const { page } = await browser.open(data);
  assert.equal(await tile(page, "Accuracy, masked"), percent(final.accuracy_masked.mean));
  assert.equal(await tile(page, "Accuracy, unmasked"), percent(final.accuracy_unmasked.mean));
  assert.equal(await tile(page, "Network model"), percent(final.network_accuracy_masked));
  assert.equal(await tile(page, "The paper reports"), "79.36 %");
  assert.equal(await tile(page, "Rounds"), String(rounds));
  assert.equal(await tile(page, "Consensus error"), final.consensus_error.toPrecision(3).replace(/0+$/, ""));
  const sent = page.locator(".tile", { hasText: "Sent" }).locator(".note");
  assert.equal(await sent.textContent(), `${sent_bytes.toLocaleString("en-US")} bytes`);
  await page.close();
});

test("pointer and arrow keys read a chart's values, which are those of the round", async () => {
  const data = oneRun({ rounds: 12 });
  const { page } = await browser.open(data);
  const plot = page.locator("#accuracy .plot").first();
  await plot.focus();
  await page.keyboard.press("End");
  const tooltip = page.locator(".tooltip");
  await tooltip.waitFor();
  const last = data.runs[0].rounds[11].evaluation;
  assert.match(await tooltip.innerText(), /Round 12/);
  assert.ok((await tooltip.innerText()).includes(percent(last.accuracy_masked.mean)));
  assert.ok((await tooltip.innerText()).includes(percent(last.network_accuracy_masked)));
  await page.keyboard.press("ArrowLeft");
  assert.match(await tooltip.innerText(), /Round 11/);
  await page.keyboard.press("Escape");
  assert.ok(await tooltip.isHidden());
  await plot.hover();
  assert.match(await tooltip.innerText(), /Round \d/);
  await page.close();
});

test("the slider moves through the rounds' graphs, by keyboard too", async () => {
  const data = oneRun({ rounds: 10 });
  const { page } = await browser.open(data);
  const slider = page.locator("#network input[type=range]");
  /** @param {number} round */
  const shows = async (round) => {
    const { graph } = data.runs[0].rounds[round - 1];
    assert.equal(await page.locator("#network .round").textContent(), `${round} of 10`);
    assert.equal(await page.locator(".graph .link:not(.failed)").count(), graph.links.length);
    assert.equal(await page.locator(".graph .link.failed").count(), graph.failed.length);
    assert.equal(await page.locator(".graph .client.absent").count(), graph.absent.length);
  };
  await shows(10);
  await slider.fill("2");
  await shows(3);
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  await shows(4);
  await page.keyboard.press("Home");
  await shows(1);
  await page.close();
});

test("hostile clients are crossed in the graph, and a table says who doubted them", async () => {
  const data = oneRun({ rounds: 4 });
  const { page: honest } = await browser.open(data);
  assert.ok(await honest.locator("#hostile").isHidden());
  await honest.close();
  const run = data.runs[0];
  for (const client of [2, 7]) run.about.clients[client].hostile = true;
  for (const round of run.rounds) {
    round.attack = { clients: [2, 7], mass: 0.1, distance: 0.5, honest_accuracy_masked: { mean: 0.6, min: 0.4 } };
    round.defence = { rejected: 2, doubted: { rejected: [[0, 2], [1, 5]], clipped_prompts: [[3, 7]] } };
  }
  const { page } = await browser.open(data);
  assert.equal(await page.locator(".graph .hostile-mark").count(), 2);
  const rows = page.locator("#hostile tbody tr");
  assert.equal(await rows.count(), 3);
  assert.match(await rows.nth(0).innerText(), /Client 2, hostile.*\b4\b/s);
  assert.match(await rows.nth(2).innerText(), /honest ones.*\b4\b/s);
  assert.equal(await page.locator("#hostile figure:visible").count(), 5);  // four figures and the table
  await page.close();
});

test("masked and unmasked, links and heat map, light and dark can be chosen", async () => {
  const { page } = await browser.open(oneRun({ rounds: 10 }));
  const canvas = page.locator("#accuracy canvas").first();
  const masked = await image(canvas);
  await page.getByRole("button", { name: "Unmasked" }).click();
  assert.equal(await page.getByRole("button", { name: "Unmasked" }).getAttribute("aria-pressed"), "true");
  const unmasked = await image(page.locator("#accuracy canvas").first());
  assert.notEqual(unmasked, masked);
  await page.getByRole("button", { name: "Heat map" }).click();
  assert.ok(await page.locator(".plane").isHidden());
  assert.ok(await inked(page.locator("#merges canvas")) > 1000);
  await page.getByLabel("Client", { exact: true }).selectOption("10");
  await page.getByRole("button", { name: "Links" }).click();
  assert.match(await page.locator("#merges figcaption").first().innerText(), /met at client 10 /);
  await page.getByRole("button", { name: "Switch to dark colours" }).click();
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
  assert.notEqual(await image(page.locator("#accuracy canvas").first()), unmasked);
  await page.close();
});

test("a click on a merged prompt goes near it, and back", async () => {
  const { page } = await browser.open(oneRun({ rounds: 3, clients: 10 }));
  const ruler = page.locator(".plane .ruler + text");
  const afar = Number(await ruler.textContent());
  await page.locator(".plane path[data-merged='3']").dispatchEvent("click");
  assert.ok(Number(await ruler.textContent()) < afar);
  await page.locator(".plane").focus();
  await page.keyboard.press("Escape");
  assert.equal(Number(await ruler.textContent()), afar);
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator(".tooltip").innerText(), /Merged prompt 0/);
  await page.keyboard.press("Enter");
  assert.ok(Number(await ruler.textContent()) < afar);
  await page.close();
});

test("what was checked is said in a sentence each, with the counts of the records", async () => {
  const data = oneRun({ rounds: 6, clients: 10 });
  const { rounds } = data.runs[0];
  /** @param {(round: any) => number} of @returns {string} */
  const sum = (of) => rounds.reduce((/** @type {number} */ total, /** @type {any} */ round) => total + of(round), 0).toLocaleString("en-US");
  const sent = sum((r) => r.sent_messages);
  const checked = sum((r) => r.theory.checked);
  const clean = await browser.open(data);
  const verdicts = clean.page.locator("#checks .verdict");
  assert.deepEqual(await verdicts.allTextContents(), [
    `✓ ${sent} messages sent; every one came and was believed.`, "✓ 6 rounds; no client's update diverged.",
    `✓ ${checked} merges checked, none broke the bound.`,
  ]);
  assert.equal(await clean.page.locator("#checks canvas:visible").count(), 1);
  await clean.page.locator("#checks .plot:visible").focus();
  await clean.page.keyboard.press("End");
  assert.ok((await clean.page.locator(".tooltip").innerText()).includes(String(Number(rounds[5].theory.largest_ratio.toPrecision(3)))));
  await clean.page.close();

  rounds[1].refused_messages = 2;
  rounds[4].missing_messages = 3;
  rounds[2].diverged_clients = 1;
  Object.assign(rounds[3].theory, { violated: 2, largest_ratio: 1.5 });
  const broken = await browser.open(data);
  assert.deepEqual(await broken.page.locator("#checks .verdict.broken").allTextContents(), [
    `⚠ ${sent} messages sent; 2 were not believed and 3 did not come, in rounds 2, 5.`, "⚠ 1 update diverged and was not used, in round 3.",
    `⚠ ${checked} merges checked, 2 broke the bound, in round 4.`,
  ]);
  assert.equal(await broken.page.locator("#checks canvas:visible").count(), 3);
  assert.deepEqual(broken.complaints, []);
  await broken.page.close();

  for (const round of rounds) for (const name of ["theory", "refused_messages", "diverged_clients"]) delete round[name];
  const silent = await browser.open(data);
  assert.ok(await silent.page.locator("#checks").isHidden());
  await silent.page.close();
});

test("a resumed run says after which rounds, and where its command was given", async () => {
  const data = oneRun({ rounds: 3, clients: 4 });
  Object.assign(data.runs[0].about, { working_folder: "/experiments", resumed: [{ after_round: 2, time: "2026-11-16T01:02:03Z", version: "0.2.0" }] });
  const { page } = await browser.open(data);
  const facts = await page.locator("#reproduce .facts").innerText();
  assert.match(facts, /after round 2, 2026-11-16 01:02 UTC, dfrost 0\.2\.0/);
  assert.match(facts, /\/experiments/);
  await page.close();
});

test("runs compared: the table has the groups' figures and the paper's beside them", async () => {
  const data = compared({ rounds: 8, clients: 10 });
  const { page, complaints } = await browser.open(data);
  for (const group of data.groups) {
    const row = page.locator("table.figures tbody tr", { has: page.locator("th", { hasText: new RegExp(`^${group.label}$`) }) });
    const cells = await row.locator("td").allTextContents();
    const { mean, std } = group.accuracy_masked;
    assert.equal(cells[0], `${(100 * mean).toFixed(2)} ± ${(100 * std).toFixed(2)}`);
    assert.equal(cells[1], group.paper.accuracy.toFixed(2));
    assert.equal(cells[cells.length - 1], "1, 2, 3");
  }
  assert.deepEqual(complaints, []);
  await page.close();
});

test("runs compared: the legend switches curves off and on, by keyboard too", async () => {
  const { page } = await browser.open(compared({ rounds: 8, clients: 10 }));
  const canvas = () => page.locator("#measures canvas").first();
  const all = await image(canvas());
  const button = page.locator(".legend.toggles button", { hasText: "D-PSGD-PT" });
  await button.focus();
  await page.keyboard.press("Space");
  assert.equal(await button.getAttribute("aria-pressed"), "false");
  assert.ok(await button.evaluate((b) => b === document.activeElement));
  assert.notEqual(await image(canvas()), all);
  await page.keyboard.press("Enter");
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  await page.locator("#measures").scrollIntoViewIfNeeded();
  assert.ok(((await button.boundingBox())?.y ?? -1) >= 0);  // it stays in sight
  await page.locator(".one-run select").selectOption({ label: "dfedsam-pt-2" });
  assert.match(await page.locator("#reproduce pre").first().innerText(), /seed=2.*dfedsam-pt/);
  await page.close();
});

test("hostile names are shown as text", async () => {
  const names = ["<script>window.broken = 1</script>", "</script><img src=x onerror='window.broken = 1'>", "\"'`&<b>\u2028", "名前 اسم שם 🦊", "x".repeat(600)];
  for (const name of names) {
    const run = makeRun({ name, rounds: 3, clients: 4, domains: [name, "b"] });
    run.about.command = name;
    run.about.clients.forEach((/** @type {any} */ client) => (client.name = name));
    run.problems = /** @type {any} */ ([name]);
    run.paper.setting = name;
    const { page, complaints } = await browser.open({ schema: 1, title: name, generator: name, runs: [run, { ...run, name: name + 2 }], groups: [] });
    assert.equal(await page.locator("h1").evaluate((h) => h.textContent), name);
    assert.equal(await page.locator("#reproduce pre code").first().evaluate((c) => c.textContent), name);
    assert.equal(await page.evaluate("window.broken"), undefined);
    assert.ok(await page.evaluate("document.documentElement.scrollWidth <= 1280"));
    assert.deepEqual(complaints, []);
    await page.close();
  }
});

test("what is missing is said, and what is there is shown", async () => {
  const cut = oneRun({ rounds: 5, clients: 4, every: 2 });
  cut.runs[0].problems = ["metrics.jsonl ends in the middle of line 6: 5 rounds are shown"];
  cut.runs[0].about = null;
  cut.runs[0].summary = null;
  cut.runs[0].merges = [];
  cut.runs[0].rounds[1].consensus_error = null;
  const { page, complaints } = await browser.open(cut);
  assert.match(await page.locator(".problems").innerText(), /ends in the middle of line 6/);
  assert.match(await page.locator("#partition").innerText(), /did not record its partition/);
  assert.match(await page.locator("#merges").innerText(), /did not record how its merges/);
  assert.ok(await inked(page.locator("#accuracy canvas").first()) > 500);
  assert.equal(await page.locator(".graph .client").count(), 4);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("an empty run, an empty report and data of a newer version each say so", async () => {
  const empty = { schema: 1, title: "empty", runs: [{ name: "empty", problems: [], summary: null, about: null, rounds: [], merges: [], config: null, paper: null }], groups: [] };
  const newer = { ...oneRun({ rounds: 3, clients: 4 }), schema: 2 };
  Object.assign(newer.runs[0].rounds[1], { evaluation: { accuracy_masked: "soon" }, graph: { links: "many" }, seconds: null });
  /** @type {[unknown, RegExp][]} */
  const cases = [
    [empty, /no round was recorded/], [{}, /holds no run/], ["", /holds no run/], [newer, /newer dfrost \(schema 2/],
  ];
  for (const [data, message] of cases) {
    const { page, complaints } = await browser.open(data);
    assert.match(await page.locator(".problems").innerText(), message);
    assert.equal(await page.locator("section:visible").count() > 0, data === newer, "no panel without a thing to show");
    assert.deepEqual(complaints, []);
    await page.close();
  }
});

test("a run that was stopped says how many of its rounds are done, one that is whole how many there were", async () => {
  const data = oneRun({ rounds: 3, clients: 4 });
  data.runs[0].planned_rounds = 5;
  const stopped = await browser.open(data);
  assert.equal(await tile(stopped.page, "Rounds"), "3 of 5");
  await stopped.page.close();
  data.runs[0].planned_rounds = 3;
  const whole = await browser.open(data);
  assert.equal(await tile(whole.page, "Rounds"), "3");
  await whole.page.close();
});

test("a run of no rounds shows how its untrained clients score, and complains of nothing", async () => {
  const data = oneRun({ rounds: 1, clients: 4 });
  const [run] = data.runs;
  const { final } = run.summary;
  Object.assign(run, { rounds: [], merges: [], planned_rounds: 0, paper: null });
  Object.assign(run.summary, { rounds: 0, final: { ...final, train_loss: null } });
  const { page, complaints } = await browser.open(data);
  assert.equal(await tile(page, "Accuracy, masked"), percent(final.accuracy_masked.mean));
  assert.equal(await tile(page, "Rounds"), "0");
  assert.equal(await tile(page, "Training loss"), "–");
  assert.ok(await page.locator(".problems").isHidden());
  assert.ok(await page.locator("#accuracy").isHidden());
  assert.deepEqual(complaints, []);
  await page.close();
});

test("a section that cannot be drawn leaves the others alone", async () => {
  const odd = oneRun({ rounds: 3, clients: 4 });
  odd.runs[0].about.partition = [null];
  const { page } = await browser.open(odd);
  assert.match(await page.locator("section.failed").innerText(), /could not be drawn/);
  assert.equal(await page.locator(".graph .client").count(), 4);
  await page.close();
});

test("a site's page shows the federation as the site sees it, and no figures of the whole network", async () => {
  const data = oneRun();
  /** @param {number} number @param {string} name @param {object} more */
  const member = (number, name, more) => ({ number, name, linked: true, alive: true, neighbour: true, awaited: false, round: 7, stage: "train", ...more });
  data.runs[0].peer = {
    name: "clinic-a", number: 0, federation: "five", rounds: 40, round: 7, stage: "exchange", waiting_for: "clinic-b", ended: "",
    members: [member(1, "clinic-b", { awaited: true, round: 6 }), member(2, "clinic-c", { linked: false, alive: false, round: 3 })],
  };
  const { page, complaints } = await browser.open(data);
  const section = page.locator("#federation");
  assert.match(await section.innerText(), /clinic-a of five: round 7 of 40, waiting for clinic-b/);
  assert.equal(await section.locator(".site.awaited").count(), 1);
  assert.equal(await section.locator(".site.away").count(), 1);
  assert.match(await section.locator("tbody tr").nth(0).innerText(), /waited for\s+6\s+1 round behind/);
  assert.match(await section.locator("tbody tr").nth(1).innerText(), /away\s+3\s+4 rounds behind/);
  assert.equal(await page.locator(".tile", { hasText: "Network model" }).count(), 0);
  assert.deepEqual(complaints, []);
  await page.close();
  const other = await browser.open(oneRun());
  assert.ok(await other.page.locator("#federation").isHidden());
  await other.page.close();
});
