// Starts the language server `onnx-lint server`.
"use strict";

const { existsSync } = require("node:fs");
const { join } = require("node:path");
const { window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

/** Returns the command of the settings, or the one in the extension, or else the one on the `PATH`. */
function command(folder) {
  const configured = workspace.getConfiguration("onnx-lint").get("path", "");
  const bundled = join(folder, "bin", process.platform === "win32" ? "onnx-lint.exe" : "onnx-lint");
  return configured || (existsSync(bundled) ? bundled : "onnx-lint");
}

async function activate(context) {
  const languages = ["python", "onnxtxt", "onnx-rule"];
  const server = command(context.extensionPath);
  client = new LanguageClient(
    "onnx-lint",
    "onnx-lint",
    { command: server, args: ["server"] },
    {
      documentSelector: languages.map((language) => ({ scheme: "file", language })),
      synchronize: {
        // A changed model is linted again; a changed configuration causes all files to be linted again.
        fileEvents: workspace.createFileSystemWatcher(
          "**/{*.onnx,*.pt2,*.torchir.txt,onnx-lint.toml,.onnx-lint.toml,pyproject.toml}",
        ),
      },
    },
  );
  try {
    await client.start();
  } catch (error) {
    const advice = "Install it with `pip install onnx-lint`, or set `onnx-lint.path`.";
    window.showErrorMessage(`onnx-lint: \`${server} server\` does not start: ${error.message}. ${advice}`);
  }
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
