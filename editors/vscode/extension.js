// Starts the language server, `layoutdsl lsp`, and tells how to get it where it is not there.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function activate() {
  const [command, ...args] = vscode.workspace.getConfiguration("layoutdsl").get("command");
  const server = { command, args };
  const options = { documentSelector: [{ language: "layout" }] };
  client = new LanguageClient("layoutdsl", "layoutdsl", server, options);
  try {
    await client.start();
  } catch (failure) {
    client = undefined;
    const remedy = "install layoutdsl with its extra lsp, or set layoutdsl.command";
    vscode.window.showErrorMessage(`layoutdsl: ${command} cannot be started: ${remedy}. ${failure}`);
  }
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
