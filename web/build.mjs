// Bundles the page into one file and writes it twice:  node build.mjs FOLDER
//   FOLDER/page_template.html   the page, with the marker /*dfrost-data*/ where the data goes
//   FOLDER/page_template.cc     the same bytes as dfrost::page_template()
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2];
if (!folder) {
  console.error("usage: node build.mjs FOLDER");
  process.exit(2);
}

/** @param {string} entry */
async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    // The browsers of 2021 and later; Debian's own are newer.
    target: ["chrome90", "firefox90", "safari15"],
    legalComments: "inline",
    logLevel: "warning",
  });
  return /** @type {import("esbuild").OutputFile} */ (result.outputFiles[0]).text.trim();
}

/**
 * A replacement string would give "$&" a meaning, and bundles are full of dollars: a function does not.
 * @param {string} template @param {string} marker @param {string} text
 */
function fill(template, marker, text) {
  if (template.split(marker).length !== 2) throw new Error(`page.html must have ${marker} once`);
  return template.replace(marker, () => text);
}

/** @param {Buffer} bytes */
function cppSource(bytes) {
  const lines = [];
  for (let i = 0; i < bytes.length; i += 40) lines.push(bytes.subarray(i, i + 40).join(",") + ",");
  return `// Made by web/build.mjs.
#include "report/page_template.h"

namespace dfrost {
namespace {
constexpr unsigned char kPage[] = {
${lines.join("\n")}
};
}  // namespace

std::string_view page_template() { return {reinterpret_cast<const char*>(kPage), sizeof kPage}; }

}  // namespace dfrost
`;
}

const [script, style] = await Promise.all([bundle("main.ts"), bundle("style/page.css")]);
let page = readFileSync(join(here, "src", "page.html"), "utf8");
page = fill(page, "/*dfrost-style*/", style);
page = fill(page, "/*dfrost-script*/", script);
if (page.split("/*dfrost-data*/").length !== 2) throw new Error("the page must have /*dfrost-data*/ once");

mkdirSync(folder, { recursive: true });
const bytes = Buffer.from(page, "utf8");
writeFileSync(join(folder, "page_template.html"), bytes);
writeFileSync(join(folder, "page_template.cc"), cppSource(bytes));
