//! Checks of the file that an export writes.

use tree_sitter::Node;

use crate::diag::Level;
use crate::diag::rule_ids::{ARGUMENT_TYPE, OVERWRITTEN_FILE};

use super::super::super::syntax::{ancestors, children, everything, field, text};
use super::super::value::Value;
use super::check::{Check, Words};
use super::path_uses::{PathUses, is_loop};
use super::value_node;

/// Code that moves or reads files without their paths.
const MOVERS: [&str; 13] = [
    "shutil",
    "os.rename",
    "os.replace",
    ".rename(",
    "subprocess",
    "os.system",
    "upload",
    "log_artifact",
    "log_model",
    "mock",
    "push_to_hub",
    "+ \".onnx\"",
    "+ '.onnx'",
];

/// Methods that list files.
const LISTINGS: [&str; 6] = ["glob", "rglob", "listdir", "iterdir", "scandir", "walk"];

impl<'t> Check<'_, '_, 't> {
    /// Checks the path of the file, and reports an export in a loop that overwrites its own file.
    pub fn file(&mut self) {
        let request = self.request;
        if request.function != "torch.onnx.export" {
            return;
        }
        if let Some(Value::Int(_) | Value::Float(_) | Value::Bool(_)) = request.given("f") {
            let node = request.node("f");
            self.say_raised(
                Words::new(ARGUMENT_TYPE, node, format!("`{}` is no path of a file", self.shown(node)))
                    .help("pass the path of the file as the third argument"),
            );
            return;
        }
        self.text_file();
        let Some(Value::Str(path)) = request.given("f") else { return };
        let is_same_file = |earlier: &&super::super::exporting::ExportCall<'t>| {
            !std::ptr::eq(*earlier, request.call)
                && earlier.node == request.call.node
                && earlier.file == request.call.file
                && file_of(earlier).is_some_and(|other| other.text() == Some(path))
        };
        // The last export of the list is this call.
        let earlier = self.machine.exports.len().saturating_sub(1);
        let Some(before) = self.machine.exports[..earlier].iter().find(is_same_file).cloned() else { return };
        let same = |a: &super::super::exporting::Argument<'t>, b: &super::super::exporting::Argument<'t>| {
            a.name == b.name && a.value == b.value
        };
        let is_repeated = before.arguments.len() == request.call.arguments.len()
            && before.arguments.iter().zip(&request.call.arguments).all(|(a, b)| same(a, b));
        if is_repeated || self.is_deliberate() || !self.is_overwritten(path) {
            return;
        }
        let node = request.node("f");
        self.say(
            Words::new(OVERWRITTEN_FILE, node, format!("each iteration of the loop writes `{path}`"))
                .at(Level::Warning)
                .note("only the file of the last iteration remains")
                .help("make the name of the file depend on the loop variable"),
        );
    }

    /// Reports a file that a `with` statement opens for text.
    fn text_file(&mut self) {
        let source = self.source();
        let node = value_node(self.request.node("f"));
        let handle = text(node, source);
        let opened = ancestors(node).filter(|outer| outer.kind() == "with_statement").find_map(|with| {
            let head = children(with).into_iter().find(|child| child.kind() == "with_clause")?;
            let aliased = everything(head).into_iter().filter(|node| node.kind() == "as_pattern");
            let mut named =
                aliased.filter(|node| field(*node, "alias").is_some_and(|name| text(name, source) == handle));
            children(named.next()?).first().copied()
        });
        let Some(call) = opened.filter(|call| call.kind() == "call") else { return };
        let is_open = field(call, "function").is_some_and(|callee| text(callee, source) == "open");
        let arguments = field(call, "arguments").map(children).unwrap_or_default();
        let mode = arguments.get(1).filter(|mode| mode.kind() == "string").map(|mode| text(*mode, source));
        if !is_open || mode.is_none_or(|mode| mode.contains('b')) || arguments.len() > 2 {
            return;
        }
        self.say_raised(
            Words::new(
                ARGUMENT_TYPE,
                node,
                format!("`{handle}` is a text file, but the export writes bytes"),
            )
            .help("open the file in binary mode, `\"wb\"`, or pass its path"),
        );
    }

    /// Returns true if only some iterations export, or if the loop trains the model.
    fn is_deliberate(&self) -> bool {
        let inside = ancestors(self.request.call.node).take_while(|node| !is_loop(node));
        let is_choice = |node: Node| matches!(node.kind(), "if_statement" | "try_statement");
        // The condition `__name__ == "__main__"` chooses nothing.
        let is_main = |node: Node| text(node, self.source()).starts_with("if __name__");
        inside.into_iter().any(|node| is_choice(node) && !is_main(node))
            || self.mentions_here(&[".backward("]) && !self.is_new_model()
    }

    /// Returns true if the loop or function around the export assigns the model.
    fn is_new_model(&self) -> bool {
        let source = self.source();
        let model = self.request.argument("model").and_then(|argument| argument.node);
        let name = model.and_then(|model| text(model, source).split('.').next());
        let around: Vec<Node> = ancestors(self.request.call.node).collect();
        let is_function = |node: &&Node| node.kind() == "function_definition";
        let scope = around.iter().rev().find(|node| is_loop(node)).or(around.iter().find(is_function));
        scope.is_some_and(|scope| {
            let assigned = everything(*scope).into_iter().filter_map(|node| field(node, "left"));
            // `model, score = …` assigns several names.
            let parts = |left: Node<'t>| match left.kind() {
                "pattern_list" | "tuple_pattern" => children(left),
                _ => vec![left],
            };
            assigned.flat_map(parts).any(|left| Some(text(left, source)) == name)
        })
    }

    /// Returns true if the script may list the written files before the loops around the export end.
    fn may_list(&self) -> bool {
        let source = self.source();
        let around: Vec<Node> = ancestors(self.request.call.node).collect();
        let (Some(root), Some(outermost)) = (around.last(), around.iter().rev().find(|node| is_loop(node)))
        else {
            return false;
        };
        let function = |node: Node<'t>| ancestors(node).find(|node| node.kind() == "function_definition");
        everything(*root).into_iter().any(|node| {
            let is_listing = node.kind() == "identifier" && LISTINGS.contains(&text(node, source));
            let is_later = node.start_byte() > outermost.end_byte() && function(node) == function(*outermost);
            is_listing && !is_later
        })
    }

    /// Returns true if an iteration of a loop overwrites the file before the script may use it.
    fn is_overwritten(&self, path: &str) -> bool {
        // In another folder, the same name is another file.
        if self.mentions_here(&MOVERS) || self.mentions_here(&["chdir"]) || self.may_list() {
            return false;
        }
        let written = self.request.argument("f").and_then(|argument| argument.node);
        let uses = PathUses::new(self.request.call.node, written.map(value_node), path, self.source());
        uses.is_some_and(|uses| uses.are_in_loop() && !uses.exist())
    }
}

/// Returns the file that a call of `torch.onnx.export` writes.
fn file_of<'c, 't>(call: &'c super::super::exporting::ExportCall<'t>) -> Option<&'c Value<'t>> {
    call.argument(2, "f").map(|argument| &argument.value)
}
