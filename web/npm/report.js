#!/usr/bin/env node
// Prints the HTML report on a model: `npx onnx-lint-report model.onnx >report.html`.
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { createLinter } from "./node.js";

const [path, ...rest] = process.argv.slice(2);
if (!path || rest.length > 0) {
  console.error("usage: onnx-lint-report MODEL >REPORT.html");
  process.exit(2);
}
const linter = await createLinter();
console.log(linter.report(basename(path), await readFile(path)));
