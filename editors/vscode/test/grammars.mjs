// Tokenizes all rule files, target files and ONNX texts of the repository as VS Code does, and checks the scopes.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { lexemes } from "./lexer.mjs";
import { tables } from "./tables.mjs";

const require = createRequire(join(process.env.NODE_MODULES ?? process.cwd(), "/"));
const { Registry, parseRawGrammar, INITIAL } = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../../..");
const manifest = JSON.parse(readFileSync(join(here, "../package.json"), "utf8"));
const grammars = new Map(manifest.contributes.grammars.map((grammar) => [grammar.scopeName, join(here, "..", grammar.path)]));

await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")));
const registry = new Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async (scope) => {
    if (!grammars.has(scope)) throw new Error(`package.json has no grammar of ${scope}`);
    return parseRawGrammar(readFileSync(grammars.get(scope), "utf8"), grammars.get(scope));
  },
});

/** Returns a function from an offset to the scopes there, without the root scope. */
function scopes(grammar, text) {
  const starts = [];
  let state = INITIAL;
  let offset = 0;
  for (const line of text.split("\n")) {
    const tokenized = grammar.tokenizeLine(line, state);
    for (const token of tokenized.tokens) starts.push([offset + token.startIndex, token.scopes.slice(1)]);
    state = tokenized.ruleStack;
    offset += line.length + 1;
  }
  const find = (at) => {
    let low = 0;
    for (let high = starts.length; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if (starts[middle][0] <= at) low = middle;
      else high = middle;
    }
    return starts[low][1];
  };
  return { at: find, depth: state.depth };
}

const words = tables(root);
const followedBy = (lexeme, pattern) => pattern.test(lexeme.after);

/** Returns the scope that a lexeme must have, or "" if any scope except a keyword is right. */
function expected(lexeme, language) {
  const { kind, value } = lexeme;
  if (kind === "comment") return "comment.";
  if (kind === "string") return "string.quoted.";
  if (kind === "variable") return "variable.other.attribute.";
  if (kind === "number") return /[a-z]-$/.test(lexeme.before) ? "" : "constant.numeric.";
  if (kind === "sign") return /[-+@\].?]|::/.test(value) || /^:|:$/.test(lexeme.after[0] + lexeme.before.slice(-1)) ? "" : /(punctuation|keyword\.operator|meta)\./;
  const isDefinition = followedBy(lexeme, /^\s*\??\s*=(?![=>])/);
  if (language === "rule" && isEntry(lexeme)) return "keyword.control.entry.";
  if (language === "rule" && isItem(lexeme)) return "keyword.control.item.";
  if (language === "target" && isFact(lexeme)) return /keyword\.(control|other)\./;
  if (words.types.includes(value) && followedBy(lexeme, /^\[[^\]]*\] \w/)) return "storage.type.";
  if (words.compounds.includes(value) && followedBy(lexeme, /^\((?:u?int|float|bool|string)/)) return "storage.type.";
  // The header of a function in ONNX text is on a line of its own.
  if (language === "onnxtxt" && /\n$/.test(lexeme.before) && lexeme.depth === 0) return "entity.name.function.";
  if (/^[A-Z]/.test(value) && followedBy(lexeme, /^( \(|@\d| <[^=])/) && !isDefinition) return "support.function.operator.";
  if (/^[a-z]/.test(value) && followedBy(lexeme, /^\(/) && !/\.$/.test(lexeme.before)) return /(support|entity\.name)\.function\.|storage\.type\.|keyword\.control\.choice/;
  return "";
}

/** Returns true for the keyword of an entry: outside of inner brackets, and not in a change of opset. */
function isEntry({ value, depth, before, after }) {
  if (depth !== 1 || !words.entries.includes(value) || /^\s*=[^=]/.test(after)) return false;
  return !/[@.\-]$/.test(before) && !(value === "at" && /^ opset/.test(after)) && !inDefinition(before);
}

/** Returns true if the position is in a function or pattern, which has no entries. */
function inDefinition(before) {
  const start = [...before.matchAll(/^(language|defaults|fn|pattern|rule)\b/gm)].at(-1);
  return ["fn", "pattern"].includes(start?.[1]);
}

const isItem = ({ value, depth, before }) => depth === 0 && words.items.includes(value) && /(^|\n)$/.test(before);

/** Returns true for the keyword of an entry of a target, at the start of a line that continues no list or condition. */
function isFact({ value, depth, before }) {
  const entries = depth === 1 ? ["title", "alias", "version", ...words.evidence] : depth === 2 ? words.evidence : [];
  const own = [...entries, ...(depth >= 2 ? words.facts : [])];
  return own.includes(value) && /\n\s*$/.test(before) && !/,\s*$/.test(before) && !/\b(and|or|not|where|==|in)\s*$/.test(before);
}

function files(folder, extension) {
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && entry.name.endsWith(extension)).map((entry) => join(entry.parentPath, entry.name));
}

const faults = [];
let checked = 0;
async function check(path, language) {
  const grammar = await registry.loadGrammar({ rule: "source.onnx-rule", target: "source.onnx-target", onnxtxt: "source.onnxtxt" }[language]);
  const text = readFileSync(path, "utf8");
  const shown = scopes(grammar, text);
  if (shown.depth !== 1) faults.push(`${path}: a region is not closed at the end`);
  for (const lexeme of lexemes(text)) {
    const want = expected(lexeme, language);
    const has = shown.at(lexeme.at);
    const own = has.join(" ");
    const isMatch = typeof want === "string" ? own.includes(want) : want.test(own);
    const isQuiet = want !== "" || lexeme.kind !== "word" || ["let", "both", "target"].includes(lexeme.value) || !/keyword\.control\.(entry|item)/.test(own);
    checked += 1;
    if (!isMatch || !isQuiet || /invalid/.test(own)) {
      const line = lexeme.before.split("\n").length;
      faults.push(`${path}:${line}: \`${lexeme.value}\` has the scope \`${own}\` instead of \`${want || "no keyword"}\``);
    }
  }
}

const cases = [
  ...files("rules", ".rule").map((path) => [path, "rule"]),
  ...files("docs", ".rule").map((path) => [path, "rule"]),
  ...files("targets", ".target").map((path) => [path, "target"]),
  ...[...files("tests/suite", ".onnxtxt"), ...files("docs", ".onnxtxt")].map((path) => [path, "onnxtxt"]),
];
let failed = 0;
for (const [path, language] of cases) {
  const before = faults.length;
  await check(path, language);
  failed += faults.length > before;
}

// Each keyword is in the grammar of its language, even if no file uses it.
const typeWords = JSON.parse(readFileSync(grammars.get("source.onnxtxt"), "utf8")).repository.type.match;
for (const word of [...words.types, ...words.compounds]) {
  if (!new RegExp(`[(:|]${word}[|)]`).test(typeWords)) faults.push(`the type ${word} is not in the grammar of ONNX text`);
}
const values = { also: "A002 b if 1", fixes: "A003", status: "preview", severity: "hint", phase: "fix", safety: "exact", at: "9", since: "9", detect: "builtin::x" };
for (const word of words.entries) {
  const text = `rule A001 a {\n  ${word} ${values[word] ?? '"x"'}\n}\n`;
  const grammar = await registry.loadGrammar("source.onnx-rule");
  const own = scopes(grammar, text).at(text.indexOf("\n") + 3).join(" ");
  if (!own.includes("keyword.control.entry.")) faults.push(`the entry ${word} is not in the grammar of rules`);
}
for (const fault of faults.slice(0, 40)) console.error(fault);
console.log(`${cases.length} files with ${checked} lexemes; ${faults.length} faults`);
console.log(`${cases.length - failed} passed, ${failed} failed`);
process.exit(faults.length > 0 ? 1 : 0);
