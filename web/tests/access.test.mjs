// For everybody: by keyboard, on a phone, on paper, and with any kind of colour vision.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { contrast, distance, SIGHTS } from "./colours.mjs";
import { compared, makeRun, oneRun } from "./fixtures.mjs";
import { openBrowser } from "./pages.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */ let browser;
before(async () => { browser = await openBrowser(); });
after(async () => { await browser.close(); });

const CONTROLS = "button, select, input, summary, .plot, .heat canvas, .graph, .plane, .scroll";

test("the tab key reaches every control and every chart, and shows where it stands", async () => {
  for (const data of [oneRun({ rounds: 3, clients: 6 }), compared({ rounds: 3, clients: 6 })]) {
    const { page } = await browser.open(data);
    const wanted = await page.locator(CONTROLS).evaluateAll((all) => {
      all.forEach((element, i) => element.setAttribute("data-place", String(i)));
      return all.filter((element) => element.checkVisibility()).map((element) => element.getAttribute("data-place"));
    });
    const reached = new Set();
    for (let i = 0; i < wanted.length + 20; i++) {
      await page.keyboard.press("Tab");
      const [place, outline] = await page.evaluate(() => {
        const element = document.activeElement;
        return [element?.getAttribute("data-place"), element ? getComputedStyle(element).outlineStyle : "none"];
      });
      if (place === null || place === undefined) continue;
      assert.notEqual(outline, "none", `control ${place} shows its focus`);
      reached.add(place);
    }
    assert.deepEqual(wanted.filter((place) => !reached.has(place)), []);
    await page.close();
  }
});

test("every picture and control has a name to be read aloud", async () => {
  const { page } = await browser.open(oneRun({ rounds: 3, clients: 6 }));
  const nameless = await page.locator(CONTROLS).evaluateAll((all) => all.filter((element) =>
    element.checkVisibility() && !(element.getAttribute("aria-label") || element.textContent?.trim())).map((element) => element.outerHTML.slice(0, 120)));
  assert.deepEqual(nameless, []);
  await page.close();
});

test("any two colours differ to every kind of colour vision, and curves by their dashes too", async () => {
  const runs = Array.from({ length: 8 }, (_, i) => makeRun({ seed: i + 1, rounds: 2, clients: 5 }));
  for (const dark of [false, true]) {
    const { page } = await browser.open({ schema: 1, title: "eight", runs, groups: [] });
    if (dark) await page.getByRole("button", { name: "Switch to dark colours" }).click();
    const strokes = await page.locator(".legend.toggles line").evaluateAll((lines) => lines.map((l) => [l.getAttribute("stroke"), l.getAttribute("stroke-dasharray")]));
    assert.equal(strokes.length, 8);
    assert.equal(new Set(strokes.map(([, dash]) => dash)).size, 8);
    const domains = await page.locator("#network .legend rect").evaluateAll((marks) => marks.map((mark) => mark.getAttribute("fill")));
    const colours = strokes.map(([stroke]) => String(stroke));
    assert.ok(domains.length === 5 && domains.every((domain) => colours.includes(String(domain))));
    for (const [sight, seen] of Object.entries(SIGHTS)) {
      colours.forEach((a, i) => colours.slice(i + 1).forEach((b) => {
        const apart = distance(seen(a), seen(b));
        assert.ok(apart > 12, `${a} and ${b}, ${sight}: ${apart.toFixed(1)}`);
      }));
    }
    await page.close();
  }
});

test("text stands out from its ground, light and dark", async () => {
  const data = oneRun({ rounds: 3, clients: 6 });
  data.runs[0].rounds[1].missing_messages = 1;
  data.runs[0].problems = ["a problem"];
  for (const dark of [false, true]) {
    const { page } = await browser.open(data);
    if (dark) await page.getByRole("button", { name: "Switch to dark colours" }).click();
    for (const place of ["h1", ".lede", ".problems li", ".tile .value", ".tile.main .value", ".tile .note", ".explanation", "figcaption p",
      ".choice button[aria-pressed=true]", ".choice button[aria-pressed=false]", ".legend li", ".facts dt", ".verdict.broken", ".check .note", "pre", "footer"]) {
      const [ink, ground] = await page.locator(place).first().evaluate((element) => {
        /** @type {Element | null} */ let behind = element;
        while (behind && /^rgba\(.*, 0\)$/.test(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement;
        return [getComputedStyle(element).color, getComputedStyle(behind ?? document.body).backgroundColor];
      });
      assert.ok(contrast(ink, ground) >= 4.5, `${place}: ${ink} on ${ground} is ${contrast(ink, ground).toFixed(1)}`);
    }
    await page.close();
  }
});

test("a comparison fits a phone too", async () => {
  const { page, complaints } = await browser.open(compared({ rounds: 4, clients: 10 }), { width: 390, height: 844 });
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("a phone sees the whole width, and paper gets light colours", async () => {
  const { page } = await browser.open(oneRun({ rounds: 10 }), { width: 390, height: 844 });
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390);
  const dark = page.locator("html[data-theme=dark]");  // waited for: the browser tells the page a moment later
  await page.emulateMedia({ colorScheme: "dark" });
  await dark.waitFor();
  await page.evaluate("window.themeOnPaper = ''; window.addEventListener('beforeprint', () => { window.themeOnPaper = document.documentElement.dataset.theme; })");
  assert.ok((await page.pdf({ format: "A4" })).length > 50000);
  assert.equal(await page.evaluate("window.themeOnPaper"), "light");
  await dark.waitFor();
  await page.close();
});

test("ten methods side by side, and more, are still told apart: no two curves have colour and dash in common", async () => {
  const runs = Array.from({ length: 20 }, (_, i) => makeRun({ seed: i + 1, rounds: 2, clients: 5 }));
  const { page } = await browser.open({ schema: 1, title: "twenty", runs, groups: [] });
  const strokesIn = (/** @type {string} */ place) => page.locator(`${place} line`)
    .evaluateAll((lines) => lines.map((l) => `${l.getAttribute("stroke")} ${l.getAttribute("stroke-dasharray")}`));
  const strokes = await strokesIn(".legend.toggles");
  assert.equal(new Set(strokes).size, 20);
  assert.deepEqual(await strokesIn(".figures .swatch"), strokes);
  await page.close();
});
