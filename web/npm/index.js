// The linter in a browser, or with a module that the caller compiled.

/** Creates a linter. Without a module, it downloads the one next to this file. */
export async function createLinter(module) {
  const compiled = module instanceof WebAssembly.Module
    ? module
    : await WebAssembly.compileStreaming(fetch(new URL("./onnx_lint.wasm", import.meta.url)));
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(compiled)) {
    imports[from] ??= {};
    imports[from][name] = () => { throw new Error(`unexpected call of ${from}.${name}`); };
  }
  let exports;

  /** Calls a function of the module on a model. Returns a copy of its output. */
  function run(action, name, model) {
    // After a trap, the memory of an instance cannot be used again.
    exports ??= new WebAssembly.Instance(compiled, imports).exports;
    try {
      const encoded = new TextEncoder().encode(name);
      const at = exports.room(encoded.length + model.length);
      const input = new Uint8Array(exports.memory.buffer, at, encoded.length + model.length);
      input.set(encoded);
      input.set(model, encoded.length);
      const length = exports[action](encoded.length);
      return new Uint8Array(exports.memory.buffer, exports.page(), length).slice();
    } catch (error) {
      exports = undefined;
      throw error;
    }
  }

  return {
    report: (name, model) => new TextDecoder().decode(run("lint", name, model)),
    fix(name, model) {
      const fixed = run("fix", name, model);
      if (fixed.length === 0) throw new Error(`${name} cannot be read, or the result cannot be written`);
      return fixed;
    },
  };
}
