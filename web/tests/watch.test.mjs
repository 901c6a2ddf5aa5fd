// A real run, watched by a real `dfrost watch` in a real browser; then its report, opened from disk.
//   node tests/watch.test.mjs, with DFROST (the executable) and DFROST_SHARED_DATA set; without the data, exit code 77.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { openBrowser } from "./pages.mjs";

const DFROST = process.env.DFROST ?? "dfrost";
const DATA = process.env.DFROST_SHARED_DATA ?? "";
const BACKBONE = join(DATA, "deit_tiny/deit_tiny_patch16_224.safetensors");
if (!existsSync(BACKBONE)) {
  console.log(`skipped: ${BACKBONE} is not here`);
  process.exit(77);
}
const ROUNDS = 4;
const PATIENCE = 120_000;  // milliseconds; a busy machine is no failure

const CONFIG = `
[run]
name = "live"
seed = 5
rounds = ${ROUNDS}
[backbone]
path = "${BACKBONE}"
precision = "fp32"
image_size = 64
[data]
domains = [{name = "notmnist", path = "${DATA}/notmnist"}, {name = "svhn", path = "${DATA}/svhn"}]
train_per_domain = 40
test_per_domain = 20
[partition]
kind = "dirichlet"
alpha = 0.5
clients_per_domain = 2
min_per_client = 6
[network]
topology = "full"
[train]
epochs = 2
[prompts]
count = 5
`;

const folder = mkdtempSync(join(tmpdir(), "dfrost-watch-"));
/** @type {Awaited<ReturnType<typeof openBrowser>>} */ let browser;
before(async () => { browser = await openBrowser(); });
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Ends with the process's exit code. @param {import("node:child_process").ChildProcess} process */
const ended = (process) => new Promise((resolve) => process.on("exit", (code) => resolve(code)));

/** The address that `dfrost watch` prints first. @param {import("node:child_process").ChildProcessByStdio<null, import("node:stream").Readable, null>} process */
const addressOf = (process) => new Promise((resolve) => process.stdout.once("data", (text) => resolve(String(text).trim())));

test("a page that was opened before a real run began shows its rounds as they come, and its end", async () => {
  writeFileSync(join(folder, "live.toml"), CONFIG);
  const watch = spawn(DFROST, ["watch", join(folder, "live"), "--port", "0"], { stdio: ["ignore", "pipe", "ignore"] });
  const { page } = await browser.visit(/** @type {string} */ (await addressOf(watch)));
  page.setDefaultTimeout(PATIENCE);
  await page.locator(".badge").getByText("live", { exact: true }).waitFor();
  await page.evaluate("window.isSamePage = true");
  // Every state of the slider's label that the page ever shows, however quickly the run goes.
  await page.evaluate(() => {
    const shown = new Set();
    Object.assign(window, { shown });
    new MutationObserver(() => shown.add(document.querySelector("#network .round")?.textContent))
      .observe(document.body, { subtree: true, childList: true, characterData: true });
  });

  const run = spawn(DFROST, ["run", join(folder, "live.toml"), "--runs", folder, "--quiet"], { stdio: "ignore" });
  const code = ended(run);
  await page.locator("#network .round").getByText(`${ROUNDS} of ${ROUNDS}`).waitFor();
  assert.equal(await code, 0);
  const rounds = await page.evaluate(() => [.../** @type {any} */ (window).shown].filter(Boolean));
  assert.ok(rounds.length >= 2, `the page went through ${rounds.join(", ")}`);
  assert.equal(await page.evaluate("window.isSamePage"), true);
  await showsTheSummary(page);

  const end = ended(watch);
  watch.kill("SIGINT");
  assert.equal(await end, 0);
  await page.locator(".badge").getByText("connection lost, retrying").waitFor();
  await page.close();
});

test("the report that the run leaves opens from disk and has the figures of summary.json", async () => {
  const { page, complaints } = await browser.visit(pathToFileURL(join(folder, "live", "report.html")).href);
  await showsTheSummary(page);
  assert.equal(await page.locator(".graph .client").count(), 4);
  assert.ok(await page.locator(".plane .merged").count() === 5);
  assert.match(await page.locator("#reproduce pre").first().innerText(), /^dfrost run .*live\.toml/);
  assert.deepEqual(complaints, []);
  await page.close();
});

/** @param {import("playwright-core").Page} page */
async function showsTheSummary(page) {
  const { final, rounds } = JSON.parse(readFileSync(join(folder, "live", "summary.json"), "utf8"));
  /** @param {string} name @param {string} value */
  const tile = (name, value) =>
    page.locator(".tile", { has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }) }).locator(".value").getByText(value, { exact: true }).waitFor();
  await tile("Rounds", String(rounds));
  await tile("Accuracy, masked", `${(100 * final.accuracy_masked.mean).toFixed(2)} %`);
  await tile("Accuracy, unmasked", `${(100 * final.accuracy_unmasked.mean).toFixed(2)} %`);
  await tile("Network model", `${(100 * final.network_accuracy_masked).toFixed(2)} %`);
}
