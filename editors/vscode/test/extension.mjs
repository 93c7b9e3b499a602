// Activates an installed extension with a stub of VS Code's API, and checks that its language server reports a finding.
//
//   node extension.mjs FOLDER    FOLDER is the content of the `.vsix` file
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const { contributes } = manifest;
const files = [
  manifest.main,
  manifest.icon,
  ...contributes.languages.map((language) => language.configuration),
  ...contributes.grammars.map((grammar) => grammar.path),
  ...contributes.snippets.map((snippets) => snippets.path),
];
const site = process.env.SITE_URL;
assert.equal(contributes.tomlValidation?.[0].url, site && `${site}/onnx-lint.schema.json`);
for (const file of files) assert(readFileSync(join(folder, file)).length > 0, file);

const work = mkdtempSync(join(tmpdir(), "onnx-lint-"));
const path = join(work, "net.onnxtxt");
const text = "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[N,4] x) => (float[N,4] y) {\n  y = Add (x, ghost)\n}\n";
writeFileSync(path, text);

/** A value with every property, which can be called and constructed. */
const anything = () =>
  new Proxy(function () {}, {
    get: (target, key) => (key === Symbol.toPrimitive ? () => "" : key === "then" ? undefined : key in target ? target[key] : (target[key] = anything())),
    apply: () => undefined,
    construct: () => ({ dispose() {} }),
  });
/** Any event, provider or watcher, which never reports anything. */
const emitter = () => ({ dispose() {}, onDidCreate: emitter, onDidChange: emitter, onDidDelete: emitter });
class EventEmitter {
  listeners = [];
  event = (listener) => (this.listeners.push(listener), { dispose() {} });
  fire(value) { for (const listener of this.listeners) listener(value); }
  dispose() {}
}
class Uri {
  constructor(address) { this.scheme = "file"; this.fsPath = decodeURIComponent(new URL(address).pathname); this.address = address; }
  static parse(address) { return new Uri(address); }
  static file(name) { return new Uri(pathToFileURL(name).href); }
  toString() { return this.address; }
}
class Diagnostic { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } }
class CodeActionKind {
  constructor(value) { this.value = value; }
  append(part) { return new CodeActionKind(this.value ? `${this.value}.${part}` : part); }
  static Empty = new CodeActionKind("");
}
class Disposable { constructor(dispose) { this.dispose = dispose ?? (() => {}); } static from() { return new Disposable(); } }
class CancellationTokenSource { token = { isCancellationRequested: false, onCancellationRequested: emitter }; cancel() {} dispose() {} }

/** The log of the client, which is printed after a failure. */
const log = [];
const uri = Uri.file(path);
const document = { uri, fileName: path, languageId: "onnxtxt", version: 1, getText: () => text, lineCount: 4, isClosed: false };
let report;
const reported = new Promise((resolve) => { report = resolve; });
const collection = { set: (of, found) => { if (found?.length) report([of, found]); }, delete() {}, clear() {}, dispose() {}, forEach() {} };
const configuration = { get: (key, fallback) => fallback, has: () => false, inspect: () => undefined, update() {} };

const base = anything();
const vscode = new Proxy(
  {
    Uri, EventEmitter, Disposable, Diagnostic, CodeActionKind, CancellationTokenSource,
    version: "1.100.0",
    env: { appName: "test", appHost: "desktop", language: "en", uriScheme: "vscode" },
    languages: new Proxy({ match: (selector) => [selector].flat().some((one) => one.language === "onnxtxt") ? 10 : 0, createDiagnosticCollection: () => collection }, { get: (own, key) => own[key] ?? emitter }),
    workspace: new Proxy(
      { textDocuments: [document], notebookDocuments: [], workspaceFolders: [], getConfiguration: () => configuration },
      { get: (own, key) => own[key] ?? emitter },
    ),
    window: new Proxy(
      {
        visibleTextEditors: [], tabGroups: { all: [], onDidChangeTabs: emitter, onDidChangeTabGroups: emitter },
        createOutputChannel: () => ({ appendLine: (line) => log.push(line), append: (line) => log.push(line), show() {}, dispose() {} }),
        showErrorMessage: (message) => { throw new Error(message); },
      },
      { get: (own, key) => own[key] ?? emitter },
    ),
  },
  { get: (own, key) => own[key] ?? base[key] },
);
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

const extension = createRequire(import.meta.url)(join(folder, manifest.main));
const timer = setTimeout(() => { console.error("no diagnostics within 30 s", log.join("\n")); process.exit(1); }, 30_000);
await extension.activate({ extensionPath: folder, subscriptions: [] });
const [of, found] = await reported;
assert.equal(of.toString(), uri.toString());
assert.match(found[0].message, /ghost/);
await extension.deactivate();
clearTimeout(timer);
rmSync(work, { recursive: true });
console.log(`the extension ${manifest.version} reports: ${found[0].message.split("\n")[0]}`);
