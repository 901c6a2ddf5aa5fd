// What the tests share: pages with data in them, and the system's Chromium.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { FIGURES } from "./fixtures.mjs";

/** Where the bundled page is; the build says. */
const TEMPLATE = process.env.DFROST_PAGE ?? new URL("../dist/page_template.html", import.meta.url).pathname;
const CHROMIUM = process.env.DFROST_CHROMIUM ?? "/usr/bin/chromium";

/** The page with a document in it, escaped as the C++ side does; one made by hand gets the table of figures. @param {unknown} data */
export function pageWith(data) {
  const json = typeof data === "string" ? data : JSON.stringify({ figures: FIGURES, .../** @type {object} */ (data) });
  const safe = json.replace(/[<>&\u2028\u2029]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  return readFileSync(TEMPLATE, "utf8").replace("/*dfrost-data*/", () => safe);
}

/** How many of a chart's pixels are drawn on. @param {import("playwright-core").Locator} canvas */
export function inked(canvas) {
  return canvas.evaluate((element) => {
    const { width, height } = /** @type {HTMLCanvasElement} */ (element);
    const pixels = /** @type {HTMLCanvasElement} */ (element).getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
    let count = 0;
    for (let i = 3; i < pixels.length; i += 4) if (pixels[i]) count += 1;
    return count;
  });
}

/** What is drawn on a canvas, to see whether it changed. @param {import("playwright-core").Locator} canvas */
export const image = (canvas) => canvas.evaluate((element) => /** @type {HTMLCanvasElement} */ (element).toDataURL());

/** @param {import("playwright-core").Page} page @param {string} name @returns {Promise<string | null>} */
export const tile = (page, name) => page.locator(".tile", { has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }) }).locator(".value").textContent();

/** The picture of a title. @param {import("playwright-core").Page} page @param {string} title */
export const pictureOf = (page, title) => page.locator("figure", { has: page.locator("h3", { hasText: new RegExp(`^${title}$`) }) });

/** What the floating box says after some keys on an element. @param {import("playwright-core").Locator} element @param {string[]} keys */
export async function readBy(element, ...keys) {
  await element.focus();
  for (const key of keys) await element.page().keyboard.press(key);
  return element.page().locator(".tooltip").innerText();
}

/** @param {number} share */
export const percent = (share) => `${(100 * share).toFixed(2)} %`;

export async function openBrowser() {
  const folder = mkdtempSync(join(tmpdir(), "dfrost-page-"));
  const context = await chromium.launchPersistentContext(join(folder, "profile"), {
    executablePath: CHROMIUM,
    headless: true,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
    viewport: { width: 1280, height: 900 },
  });
  let files = 0;
  return {
    context,
    folder,
    /**
     * Opens a document as a file from disk. `complaints` gathers errors, warnings and any request but that for the file.
     * @param {unknown} data @param {{width?: number, height?: number}} size
     */
    async open(data, { width = 1280, height = 900 } = {}) {
      const file = join(folder, `report-${files++}.html`);
      writeFileSync(file, pageWith(data));
      return this.visit(pathToFileURL(file).href, { width, height });
    },
    /** @param {string} address @param {{width?: number, height?: number}} size */
    async visit(address, { width = 1280, height = 900 } = {}) {
      const page = await context.newPage();
      await page.setViewportSize({ width, height });
      /** @type {string[]} */ const complaints = [];
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(String(error)));
      page.on("request", (request) => {
        if (request.url() !== address && !request.url().startsWith("data:")) complaints.push(`asked for ${request.url()}`);
      });
      await page.goto(address);
      return { page, complaints };
    },
    async close() {
      await context.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
