//! `onnx-lint server`: the language server protocol over standard input and output.

mod complete;
mod convert;
mod document;
mod edits;
mod hover;
mod names;
mod requests;
mod rule_names;
mod signature;
mod symbols;
mod tokens;
mod uri;
mod words;
mod workspace;

use std::path::PathBuf;

use lsp_server::{Connection, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument,
    DidSaveTextDocument, Notification as _, PublishDiagnostics, ShowMessage,
};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CompletionOptions, HoverProviderCapability, MessageType, OneOf,
    PublishDiagnosticsParams, SaveOptions, ServerCapabilities, ShowMessageParams, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, Uri, WorkspaceFolder,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use self::document::Document;
use self::workspace::Workspace;
use crate::cli::{Failure, Status};

/// Serves one client until it sends `exit`.
///
/// # Errors
/// The client violates the protocol, or the rules or configurations of the user cannot be read.
pub fn run() -> Result<Status, Failure> {
    let failed = |what: &str| Failure::new(format!("onnx-lint server: {what}"));
    let (connection, threads) = Connection::stdio();
    let capabilities = serde_json::to_value(capabilities()).map_err(|error| failed(&error.to_string()))?;
    let params = connection.initialize(capabilities).map_err(|error| failed(&error.to_string()))?;
    let editor: Editor = serde_json::from_value(params).map_err(|error| failed(&error.to_string()))?;
    let mut server = Server { workspace: Workspace::new(editor.roots())?, connection };
    server.lint_models();
    let ended = server.serve();
    // The I/O threads end when their channels are closed.
    drop(server);
    threads.join().map_err(|error| failed(&error.to_string()))?;
    ended.map(|()| Status::Clean).map_err(|what| failed(&what))
}

fn capabilities() -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
        ..TextDocumentSyncOptions::default()
    };
    let actions = CodeActionOptions {
        code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, edits::FIX_ALL]),
        ..CodeActionOptions::default()
    };
    let completion = CompletionOptions {
        trigger_characters: Some(complete::TRIGGERS.map(str::to_owned).to_vec()),
        ..CompletionOptions::default()
    };
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(actions.into()),
        completion_provider: Some(completion),
        document_symbol_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

/// The fields of `InitializeParams` that the server uses.
///
/// Deserializing all fields would make the program much larger.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Editor {
    workspace_folders: Option<Vec<WorkspaceFolder>>,
}

impl Editor {
    /// Returns the workspace folders.
    fn roots(&self) -> Vec<PathBuf> {
        let folders = self.workspace_folders.iter().flatten();
        folders.filter_map(|folder| uri::path(&folder.uri)).collect()
    }
}

struct Server {
    workspace: Workspace,
    connection: Connection,
}

impl Server {
    fn serve(&mut self) -> Result<(), String> {
        while let Ok(message) = self.connection.receiver.recv() {
            match message {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request).map_err(|error| error.to_string())? {
                        return Ok(());
                    }
                    let response = self.answer(request);
                    self.send(response.into());
                }
                Message::Notification(notification) => self.notified(notification),
                Message::Response(_) => {}
            }
        }
        Ok(())
    }

    fn answer(&self, request: Request) -> Response {
        requests::answer(&self.workspace, request)
    }

    fn notified(&mut self, notification: Notification) {
        match &*notification.method {
            DidOpenTextDocument::METHOD => {
                let Some(params) = params::<DidOpenTextDocument>(notification) else { return };
                let opened = params.text_document;
                let document = Document::new(opened.text, opened.version);
                self.workspace.documents.insert(opened.uri.clone(), document);
                self.publish(&opened.uri);
            }
            DidChangeTextDocument::METHOD => {
                let Some(params) = params::<DidChangeTextDocument>(notification) else { return };
                let changed = params.text_document;
                if let Some(document) = self.workspace.documents.get_mut(&changed.uri) {
                    document.apply(params.content_changes, changed.version);
                }
                self.publish(&changed.uri);
            }
            DidCloseTextDocument::METHOD => {
                let Some(params) = params::<DidCloseTextDocument>(notification) else { return };
                self.workspace.documents.remove(&params.text_document.uri);
                self.publish(&params.text_document.uri);
            }
            DidSaveTextDocument::METHOD => self.lint_models(),
            DidChangeWatchedFiles::METHOD => {
                if let Err(failure) = self.workspace.reload() {
                    self.complain(&failure);
                }
                self.lint_models();
            }
            _ => {}
        }
    }

    /// Lints the models again, and publishes the diagnostics of the Python files that they refer to.
    fn lint_models(&mut self) {
        match self.workspace.lint_models() {
            Ok(files) => files.iter().filter_map(|path| uri::uri(path)).for_each(|uri| self.publish(&uri)),
            Err(failure) => self.complain(&failure),
        }
    }

    fn publish(&self, uri: &Uri) {
        match self.workspace.diagnostics(uri) {
            Ok(diagnostics) => {
                let version = self.workspace.documents.get(uri).map(|document| document.version);
                let params = PublishDiagnosticsParams { uri: uri.clone(), diagnostics, version };
                self.notify::<PublishDiagnostics>(params);
            }
            Err(failure) => self.complain(&failure),
        }
    }

    fn complain(&self, failure: &Failure) {
        let message = failure.message().to_owned();
        self.notify::<ShowMessage>(ShowMessageParams { typ: MessageType::ERROR, message });
    }

    fn notify<N: lsp_types::notification::Notification>(&self, params: N::Params) {
        self.send(Notification::new(N::METHOD.to_owned(), params).into());
    }

    /// Sends a message. A closed connection is no error here: the main loop ends by itself.
    fn send(&self, message: Message) {
        let _ = self.connection.sender.send(message);
    }
}

/// Parses the parameters of a notification; `None` if the parameters are malformed.
fn params<N: lsp_types::notification::Notification>(notification: Notification) -> Option<N::Params>
where
    N::Params: DeserializeOwned,
{
    serde_json::from_value(notification.params).ok()
}
