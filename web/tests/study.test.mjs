// A study's page, made by dfrost from results alone and opened from disk: it asks for nothing, and its numbers are those of the results.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { openBrowser } from "./pages.mjs";

const DFROST = process.env.DFROST ?? "dfrost";
const STUDY = `
title = "Which <merge>?"
[base]
preset = "demo"
[[axis]]
name = "merge"
key = "merge.kind"
values = ["ot", "average"]
[[table]]
name = "accuracy"
rows = "merge"
[[figure]]
name = "curves"
y = "accuracy_masked"
lines = "merge"
`;
const FIGURE = "evaluation.accuracy_masked.mean";
const VALUES = { ot: [0.4, 0.42], average: [0.35, 0.37] };

const folder = mkdtempSync(join(tmpdir(), "dfrost-study-"));
/** @type {Awaited<ReturnType<typeof openBrowser>>} */ let browser;
before(async () => { browser = await openBrowser(); });
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

test("the page shows the numbers of the results, draws every point, and asks the network for nothing", async () => {
  const cells = Object.entries(VALUES).flatMap(([merge, list]) => list.map((value, i) => ({
    values: { merge }, seed: i + 1, run: `${merge}-${i}`, done: true, seconds: 1, figures: { [FIGURE]: value }, curves: { [FIGURE]: [[1, 0.1], [2, value]] },
  })));
  const results = { schema: 1, name: "merges", scale: "", scale_words: "", seeds: [1, 2], command: "dfrost study merges.toml", study: STUDY, cells };
  writeFileSync(join(folder, "results.json"), JSON.stringify(results));
  assert.equal(spawnSync(DFROST, ["study", "page", join(folder, "results.json")]).status, 0);
  const { page, complaints } = await browser.visit(pathToFileURL(join(folder, "page.html")).href);
  assert.equal(await page.locator("h1").textContent(), "Which <merge>?");
  const rows = await page.locator("table#accuracy tbody tr").allInnerTexts();
  assert.deepEqual(rows.map((row) => row.split(/\s*\t\s*/)), [["ot", "41.00 ± 1.41"], ["average", "36.00 ± 1.41"]]);
  assert.equal(await page.locator("#curves svg.chart circle").count(), 4);
  assert.deepEqual(complaints, []);
});
