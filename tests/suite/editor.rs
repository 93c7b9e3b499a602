//! A client of the language server, which runs as a process like in an editor.

use std::io::BufReader;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{Value, json};

use crate::tool::Sandbox;

/// A client with one open folder.
pub struct Editor {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    asked: i32,
    folder: String,
}

impl Editor {
    pub fn new(sandbox: &Sandbox) -> Self {
        let folder = sandbox.path("");
        let mut server = Command::new(env!("CARGO_BIN_EXE_onnx-lint"))
            .arg("server")
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the tool was built");
        let to = server.stdin.take().expect("the stream is piped");
        let from = BufReader::new(server.stdout.take().expect("the stream is piped"));
        let folder = format!("file://{}", folder.to_string_lossy().trim_end_matches('/'));
        let mut editor = Editor { server, to, from, asked: 0, folder };
        let folders = json!([{ "uri": editor.folder, "name": "net" }]);
        let initialized =
            editor.ask("initialize", json!({ "capabilities": {}, "workspaceFolders": folders }));
        assert!(initialized.is_ok(), "{initialized:?}");
        editor.tell("initialized", json!({}));
        editor
    }

    pub fn uri(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        let message = Message::Notification(Notification::new(method.to_owned(), params));
        message.write(&mut self.to).expect("the server listens");
    }

    /// Sends a request; returns its result, or the error message.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.asked += 1;
        let id = RequestId::from(self.asked);
        let request = Request::new(id.clone(), method.to_owned(), params);
        Message::Request(request).write(&mut self.to).expect("the server listens");
        loop {
            match self.heard() {
                Message::Response(response) if response.id == id => {
                    return response.response_result.map_err(|error| error.message);
                }
                _ => {}
            }
        }
    }

    fn heard(&mut self) -> Message {
        Message::read(&mut self.from).expect("a valid message").expect("a message")
    }

    /// Waits for the next diagnostics of a file.
    /// Returns each as `CODE@LINE:START-END`; all numbers are 1-based, and END is exclusive.
    pub fn diagnostics(&mut self, file: &str) -> Vec<String> {
        let uri = self.uri(file);
        loop {
            let Message::Notification(heard) = self.heard() else { continue };
            assert_ne!(heard.method, "window/showMessage", "{heard:?}");
            if heard.method == "textDocument/publishDiagnostics" && heard.params["uri"] == uri {
                let diagnostics = heard.params["diagnostics"].as_array().expect("an array").clone();
                return diagnostics.iter().map(shown).collect();
            }
        }
    }

    pub fn open(&mut self, file: &str, text: &str) -> Vec<String> {
        let document = json!({ "uri": self.uri(file), "languageId": "", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
        self.diagnostics(file)
    }

    pub fn change(&mut self, file: &str, range: [u32; 4], text: &str) -> Vec<String> {
        let [line, from, last, to] = range;
        let range = json!({
            "start": { "line": line, "character": from }, "end": { "line": last, "character": to },
        });
        let document = json!({ "uri": self.uri(file), "version": 2 });
        let changes = json!([{ "range": range, "text": text }]);
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
        self.diagnostics(file)
    }

    /// Returns the parameters of a request about a position; `line` and `character` are 0-based.
    pub fn at(&self, file: &str, line: u32, character: u32) -> Value {
        let position = json!({ "line": line, "character": character });
        json!({ "textDocument": { "uri": self.uri(file) }, "position": position })
    }

    /// Requests the code actions for a range of 0-based lines and characters; returns them as an array.
    pub fn actions(&mut self, file: &str, range: &Value, code: &str, only: &[&str]) -> Vec<Value> {
        let mut context = json!({ "diagnostics": [{ "range": range, "code": code, "message": "" }] });
        if !only.is_empty() {
            context["only"] = json!(only);
        }
        let document = json!({ "uri": self.uri(file) });
        let params = json!({ "textDocument": document, "range": range, "context": context });
        let actions = self.ask("textDocument/codeAction", params).expect("actions");
        actions.as_array().expect("an array").clone()
    }

    /// Shuts the server down, and asserts that it succeeds.
    pub fn close(mut self) {
        self.ask("shutdown", Value::Null).expect("the process ends");
        self.tell("exit", Value::Null);
        assert!(self.server.wait().expect("the server is a child process").success());
    }
}

fn shown(diagnostic: &Value) -> String {
    let range = &diagnostic["range"];
    let number = |value: &Value| value.as_u64().expect("a number") + 1;
    format!(
        "{}@{}:{}-{}",
        diagnostic["code"].as_str().expect("a code"),
        number(&range["start"]["line"]),
        number(&range["start"]["character"]),
        number(&range["end"]["character"]),
    )
}
