// Lints a model in Node as the page does, fixes it, and prints the HTML report of both. The imports of the module must never be called.
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
const { memory, room, lint, fix, page } = (await WebAssembly.instantiate(compiled, imports)).exports;
const [name, model] = [new TextEncoder().encode(basename(path)), readFileSync(path)];

/** Calls a function of the module on a model. Returns a copy of its output. */
function run(action, model) {
  const at = room(name.length + model.length);
  const input = new Uint8Array(memory.buffer, at, name.length + model.length);
  input.set(name);
  input.set(model, name.length);
  const length = action(name.length);
  return new Uint8Array(memory.buffer, page(), length).slice();
}
console.log(new TextDecoder().decode(run(lint, model)));
console.log(new TextDecoder().decode(run(lint, run(fix, model))));
