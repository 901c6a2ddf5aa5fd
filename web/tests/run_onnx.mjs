// Runs an ONNX model on pictures that are prepared: run_onnx.mjs MODEL PIXELS SIDE BATCH prints the logits as JSON.
// PIXELS: float32 [N, 3, SIDE, SIDE]. For tests/python/export_test.py.
import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-web";

const [model = "", file = "", ...sizes] = process.argv.slice(2);
const [side = 0, batch = 1] = sizes.map(Number);
ort.env.wasm.numThreads = 1;
ort.env.logLevel = "error";
const bytes = readFileSync(file);
const pixels = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
const session = await ort.InferenceSession.create(readFileSync(model), { executionProviders: ["wasm"] });
const picture = 3 * side * side;
/** @type {number[][]} */
const logits = [];
for (let first = 0; first < pixels.length / picture; first += batch) {
  const some = pixels.slice(first * picture, (first + batch) * picture);
  const input = new ort.Tensor("float32", some, [some.length / picture, 3, side, side]);
  const output = (await session.run({ pixels: input })).logits;
  const [pictures = 0, classes = 0] = output?.dims ?? [];
  const values = /** @type {Float32Array} */ (output?.data);
  for (let i = 0; i < pictures; ++i) logits.push(Array.from(values.slice(i * classes, (i + 1) * classes)));
}
console.log(JSON.stringify(logits));
