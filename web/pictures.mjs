// Photographs the parts of a demo's report that the README shows; docs/pictures/make calls it.
//   node web/pictures.mjs RUNS OUT      RUNS: what ./demo left, say runs/demo-1; into OUT: network.png, methods.png
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [runs = "", out = ""] = process.argv.slice(2).map((path) => resolve(path));
const profile = mkdtempSync(join(tmpdir(), "dfrost-pictures-"));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.DFROST_CHROMIUM ?? "/usr/bin/chromium",
  headless: true,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
  deviceScaleFactor: 2,
  colorScheme: "light",
});

/**
 * From the top of one element to the bottom of another, with some air around it.
 * @param {string} report @param {number} width of the window @param {string} from @param {string} to @param {string} name
 */
async function photograph(report, width, from, to, name) {
  const page = await context.newPage();
  await page.setViewportSize({ width, height: 1000 });
  await page.goto(pathToFileURL(join(runs, report)).href);
  await page.locator(to).waitFor();
  const first = await page.locator(from).boundingBox();
  const last = await page.locator(to).boundingBox();
  if (first === null || last === null) throw new Error(`${report} does not show ${from} to ${to}`);
  const margin = 16;
  const top = Math.max(0, first.y - margin);
  const clip = { x: first.x - margin, y: top, width: first.width + 2 * margin, height: last.y + last.height + margin - top };
  await page.screenshot({ path: join(out, name), clip, fullPage: true });
  await page.close();
}

try {
  // Not much wider than the column that a README is shown in.
  await photograph("d-frost/report.html", 940, "#network figure", "#network figure", "network.png");
  await photograph("report.html", 1120, "#figures", "#accuracy figure >> nth=0", "methods.png");
} finally {
  await context.close();
  rmSync(profile, { recursive: true, force: true });
}
