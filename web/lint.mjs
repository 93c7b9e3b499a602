// Lints a model in Node as the page does, and prints the HTML report. The imports of the module must never be called.
//
//   node web/lint.mjs MODULE.wasm MODEL.onnx
import { readFileSync } from "node:fs";
import { basename } from "node:path";

const [wasm, path] = process.argv.slice(2);
const compiled = await WebAssembly.compile(readFileSync(wasm));
const imports = {};
for (const { module, name } of WebAssembly.Module.imports(compiled)) {
  imports[module] ??= {};
  imports[module][name] = () => { throw new Error(`unexpected call of ${module}.${name}`); };
}
const { memory, room, lint, page } = (await WebAssembly.instantiate(compiled, imports)).exports;
const [name, model] = [new TextEncoder().encode(basename(path)), readFileSync(path)];
const at = room(name.length + model.length);
const input = new Uint8Array(memory.buffer, at, name.length + model.length);
input.set(name);
input.set(model, name.length);
const length = lint(name.length);
console.log(new TextDecoder().decode(new Uint8Array(memory.buffer, page(), length)));
