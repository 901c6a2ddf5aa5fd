// The live page, before a small server that speaks as `dfrost watch` does.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { oneRun } from "./fixtures.mjs";
import { openBrowser, pageWith } from "./pages.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */ let browser;
before(async () => { browser = await openBrowser(); });
after(async () => { await browser.close(); });

/** Serves a page that knows `known` rounds of `data`, and sends events to whoever listens. @param {any} data @param {number} known */
async function serve(data, known) {
  /** @type {Set<import("node:http").ServerResponse>} */ const listeners = new Set();
  const state = { known, isDown: false };
  const document = () => ({
    ...data, live: true,
    runs: [{ ...data.runs[0], rounds: data.runs[0].rounds.slice(0, state.known) }],
  });
  /** @param {unknown} event */
  const line = (event) => `data: ${JSON.stringify(event)}\n\n`;
  const server = createServer((request, response) => {
    if (request.url === "/") {
      response.writeHead(200, { "content-type": "text/html" }).end(pageWith(document()));
    } else if (request.url === "/events" && !state.isDown) {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(line({ replace: document() }));
      listeners.add(response);
    } else {
      response.writeHead(503).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    address: `http://127.0.0.1:${port}/`,
    listeners,
    state,
    append() {
      const round = data.runs[0].rounds[state.known++];
      const summary = { ...data.runs[0].summary, rounds: state.known };
      for (const listener of listeners) listener.write(line({ append: { run: 0, rounds: [round], merges: [], summary } }));
    },
    drop() {
      for (const listener of listeners) listener.destroy();
      listeners.clear();
    },
    close() {
      this.drop();
      server.closeAllConnections();
      server.close();
    },
  };
}

test("a live page advances without a reload and keeps the reader's choices", async () => {
  const data = oneRun({ rounds: 6, clients: 8 });
  const server = await serve(data, 3);
  const { page } = await browser.visit(server.address);
  const badge = page.locator(".badge");
  const shown = page.locator("#network .round");
  await badge.getByText("live", { exact: true }).waitFor();
  await page.evaluate("window.isSamePage = true");
  assert.equal(await shown.textContent(), "3 of 3");
  server.append();
  await shown.getByText("4 of 4").waitFor();  // it stood on the newest round, and follows
  const plot = page.locator("#accuracy .plot").first();
  assert.match(await plot.getAttribute("aria-label") ?? "", /rounds 1 to 4/);
  await plot.focus();
  await page.keyboard.press("Home");
  assert.match(await page.locator(".tooltip").innerText(), /Round 1\n/);
  await page.locator("#network input[type=range]").fill("1");
  await page.getByRole("button", { name: "Unmasked" }).click();
  await page.getByRole("button", { name: "Heat map" }).click();
  server.append();
  await shown.getByText("2 of 5").waitFor();  // it was moved, and stays
  assert.equal(await page.getByRole("button", { name: "Unmasked" }).getAttribute("aria-pressed"), "true");
  assert.ok(await page.locator(".plane").isHidden());
  assert.equal(await page.locator(".tile", { hasText: "Rounds" }).locator(".value").textContent(), "5");
  assert.equal(await page.evaluate("window.isSamePage"), true);
  await page.close();
  server.close();
});

test("a live page says that the connection is lost, and catches up when it is back", async () => {
  const data = oneRun({ rounds: 6, clients: 8 });
  const server = await serve(data, 2);
  const { page } = await browser.visit(server.address);
  const badge = page.locator(".badge");
  await badge.getByText("live", { exact: true }).waitFor();
  server.state.isDown = true;
  server.drop();
  await badge.getByText("connection lost, retrying").waitFor();
  server.state.known = 5;
  server.state.isDown = false;
  await page.locator("#network .round").getByText("5 of 5").waitFor();
  await badge.getByText("live", { exact: true }).waitFor();
  await page.close();
  server.close();
});

test("a live page opened before the first round fills when it comes", async () => {
  const server = await serve(oneRun({ rounds: 2, clients: 4 }), 0);
  const { page } = await browser.visit(server.address);
  await page.locator(".problems").getByText("no round has finished yet").waitFor();
  assert.deepEqual(await page.locator("section:visible").evaluateAll((all) => all.map((section) => section.id)), ["partition", "reproduce"]);
  server.append();
  await page.locator("#network .round").getByText("1 of 1").waitFor();
  assert.ok(await page.locator(".problems").isHidden());
  assert.ok(await page.locator("#accuracy canvas").first().isVisible());
  await page.close();
  server.close();
});
