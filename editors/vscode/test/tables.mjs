// Keyword tables of the parsers, read from their sources, so that the grammars cannot miss a word.
import { readFileSync } from "node:fs";

/** Returns the strings of a Rust constant. */
function constant(root, path, name) {
  const text = readFileSync(`${root}/${path}`, "utf8");
  const found = new RegExp(`const ${name}: [^=]+= \\[([^;]*)\\];`).exec(text);
  if (!found) throw new Error(`${path} has no table ${name}`);
  return strings(found[1]);
}

/** Returns the strings of a function that maps variants to names. */
function arms(root, path, before) {
  const text = readFileSync(`${root}/${path}`, "utf8");
  const from = text.indexOf(before);
  if (from < 0) throw new Error(`${path} has no ${before}`);
  return strings(text.slice(from, text.indexOf("\n    }\n", from)));
}

const strings = (text) => [...text.matchAll(/"([^"]+)"/g)].map((match) => match[1]);

/** Returns the tables of the repository at `root`. */
export function tables(root) {
  return {
    items: constant(root, "src/rules/outline.rs", "ITEMS"),
    entries: constant(root, "src/rules/outline.rs", "KEYWORDS"),
    evidence: constant(root, "src/targets/syntax.rs", "KNOWN"),
    facts: constant(root, "src/targets/syntax.rs", "FACTS"),
    types: arms(root, "src/graph/element.rs", 'Float => "float"'),
    compounds: constant(root, "src/graph/syntax/types.rs", "TYPE_WORDS"),
  };
}
