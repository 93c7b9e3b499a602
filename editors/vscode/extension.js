// Starts the language server `onnx-lint server`.
"use strict";

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const command = workspace.getConfiguration("onnx-lint").get("path", "onnx-lint");
  const languages = ["python", "onnxtxt", "onnx-rule"];
  client = new LanguageClient(
    "onnx-lint",
    "onnx-lint",
    { command, args: ["server"] },
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
  return client.start();
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
