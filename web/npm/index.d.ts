/** Lints models in memory. */
export interface Linter {
  /**
   * Returns the report of `onnx-lint --output-format html` on a model.
   *
   * @param name file name of the model, whose extension tells its format
   * @param model content of the file
   */
  report(name: string, model: Uint8Array): string;

  /**
   * Returns the model as `onnx-fix` writes it, with all safe fixes and optimizations, in the same format.
   *
   * @throws Error the file is no model, or the result cannot be written
   */
  fix(name: string, model: Uint8Array): Uint8Array;
}

/** Creates a linter, by default with the WebAssembly module of this package. */
export function createLinter(module?: WebAssembly.Module): Promise<Linter>;
