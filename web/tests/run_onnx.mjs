// Runs an ONNX model on pictures that are prepared: run_onnx.mjs MODEL PIXELS SIDE BATCH prints the logits as JSON.
// PIXELS: float32 [N, 3, SIDE, SIDE]. For tests/python/export_test.py.
import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-web";

const [model, file, side, batch] = process.argv.slice(2);
ort.env.wasm.numThreads = 1;
ort.env.logLevel = "error";
const bytes = readFileSync(file);
const pixels = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
const session = await ort.InferenceSession.create(readFileSync(model), { executionProviders: ["wasm"] });
const picture = 3 * side * side;
const logits = [];
for (let first = 0; first < pixels.length / picture; first += Number(batch)) {
  const some = pixels.slice(first * picture, (first + Number(batch)) * picture);
  const input = new ort.Tensor("float32", some, [some.length / picture, 3, Number(side), Number(side)]);
  const output = (await session.run({ pixels: input })).logits;
  const classes = output.dims[1];
  for (let i = 0; i < output.dims[0]; ++i) logits.push(Array.from(output.data.slice(i * classes, (i + 1) * classes)));
}
console.log(JSON.stringify(logits));
