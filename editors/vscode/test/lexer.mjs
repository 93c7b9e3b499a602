// A lexer of rule files, target files and ONNX text that shares nothing with the grammars.

const LEXEME = /(?<comment>#[^\n]*)|(?<string>"(?:[^"\\]|\\[^])*")|(?<variable>@[A-Za-z_]\w*)|(?<number>\d+(?:\.\d+)*(?:[eE][-+]?\d+)?)|(?<word>[A-Za-z_]\w*)|(?<sign>[^\s\w])/g;

/** Returns the lexemes of a text with their kind, offset, bracket depth, and the text around them. */
export function lexemes(text) {
  const found = [];
  let depth = 0;
  for (const match of text.matchAll(LEXEME)) {
    const [kind] = Object.entries(match.groups).find(([, value]) => value !== undefined);
    const value = match[0];
    if (kind === "sign" && "}])".includes(value)) depth -= 1;
    found.push({ kind, value, at: match.index, depth, before: text.slice(0, match.index), after: text.slice(match.index + value.length) });
    if (kind === "sign" && "{[(".includes(value)) depth += 1;
  }
  return found;
}
