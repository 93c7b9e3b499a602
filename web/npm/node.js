// The linter in Node, which reads the module from this package.
import { readFile } from "node:fs/promises";
import { createLinter as create } from "./index.js";

/** Creates a linter. */
export async function createLinter(module) {
  return create(module ?? (await WebAssembly.compile(await readFile(new URL("./onnx_lint.wasm", import.meta.url)))));
}
