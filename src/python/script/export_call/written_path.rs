//! Checks of the file that an export writes.

use tree_sitter::Node;

use crate::diag::Level;
use crate::diag::rule_ids::{ARGUMENT_TYPE, OVERWRITTEN_FILE};

use super::super::super::syntax::{everything, field, text};
use super::super::value::Value;
use super::check::{Check, Words};
use super::value_node;

/// Code that moves or reads files without their paths.
const MOVERS: [&str; 16] = [
    "shutil",
    "os.rename",
    "os.replace",
    ".rename(",
    "subprocess",
    "os.system",
    "glob",
    "listdir",
    "iterdir",
    "upload",
    "log_artifact",
    "log_model",
    "mock",
    "push_to_hub",
    "+ \".onnx\"",
    "+ '.onnx'",
];

/// Functions that neither read nor write the file of a path.
const HARMLESS: [&str; 9] =
    ["print", "info", "debug", "str", "repr", "format", "Path", "basename", "abspath"];

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
        if is_repeated || self.is_file_used(path) || !self.is_in_loop() {
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

    /// Returns true if the export, or a mention of a function around it, is in a loop.
    fn is_in_loop(&self) -> bool {
        let source = self.source();
        let around: Vec<Node> = std::iter::successors(Some(self.request.call.node), Node::parent).collect();
        let is_loop = |node: &Node| {
            matches!(
                node.kind(),
                "for_statement" | "while_statement" | "list_comprehension" | "generator_expression"
            )
        };
        let functions = around.iter().filter(|node| node.kind() == "function_definition");
        let names: Vec<&str> =
            functions.filter_map(|node| field(*node, "name")).map(|name| text(name, source)).collect();
        // In another folder, the same name is another file.
        let Some(root) = around.last().filter(|_| !self.mentions_here(&["chdir"])) else { return false };
        around.iter().any(is_loop)
            || everything(*root).into_iter().any(|node| {
                node.kind() == "identifier"
                    && names.contains(&text(node, source))
                    && std::iter::successors(node.parent(), Node::parent).any(|node| is_loop(&node))
            })
    }

    /// Returns true if the script may use the file before the next iteration of the loop writes it.
    ///
    /// It does so if the enclosing loop or function mentions the path elsewhere, if another function does, and if the
    /// script moves files or runs commands.
    fn is_file_used(&self, path: &str) -> bool {
        let source = self.source();
        let call = self.request.call.node;
        let outer: Vec<Node<'t>> = std::iter::successors(call.parent(), Node::parent).collect();
        let is_end =
            |node: &&Node| matches!(node.kind(), "for_statement" | "while_statement" | "function_definition");
        let Some(root) = outer.last().copied() else { return true };
        let around = outer.iter().find(is_end).copied().unwrap_or(root);
        if self.mentions_here(&MOVERS) {
            return true;
        }
        let written = self.request.argument("f").and_then(|argument| argument.node);
        let name = written.map(value_node).filter(|node| node.kind() == "identifier");
        let name = name.map(|node| text(node, source));
        let nodes = everything(root);
        // Another path may be derived from the same stem.
        let is_derived = |node: &&Node<'t>| {
            node.kind() == "attribute"
                && field(**node, "attribute").is_some_and(|last| text(last, source) == "with_suffix")
        };
        let defines = |node: &Node<'t>| {
            let assignment =
                std::iter::successors(node.parent(), Node::parent).find(|outer| outer.kind() == "assignment");
            let target = assignment.and_then(|assignment| field(assignment, "left"));
            call.byte_range().contains(&node.start_byte())
                || target.is_some_and(|target| Some(text(target, source)) == name)
        };
        if nodes.iter().filter(is_derived).any(|node| !defines(node)) {
            return true;
        }
        // Lists that only collect the paths.
        let is_collected = |callee: Node<'t>| {
            let list = field(callee, "object").map(|list| text(list, source));
            let is_append = field(callee, "attribute").is_some_and(|last| text(last, source) == "append");
            let is_list =
                |node: &&Node<'t>| node.kind() == "identifier" && Some(text(**node, source)) == list;
            let inside = |node: &&Node<'t>| around.byte_range().contains(&node.start_byte());
            let is_created = nodes.iter().any(|node| {
                let is_target = field(*node, "left").map(|left| text(left, source)) == list;
                is_target && field(*node, "right").is_some_and(|value| text(value, source) == "[]")
            });
            is_append && is_created && nodes.iter().filter(is_list).filter(inside).count() == 1
        };
        let is_mention = |node: &Node<'t>| {
            let is_name = node.kind() == "identifier" && Some(text(*node, source)) == name;
            let is_literal = node.kind() == "string" && text(*node, source).contains(path);
            (is_name || is_literal) && !call.byte_range().contains(&node.start_byte())
        };
        let is_use = |node: &Node<'t>| {
            let parents = || std::iter::successors(node.parent(), Node::parent);
            let is_target = node.parent().is_some_and(|parent| {
                parent.kind() == "assignment"
                    && (field(parent, "left") == Some(*node) || node.kind() == "string")
                    || matches!(parent.kind(), "parameters" | "default_parameter")
            });
            let callees =
                parents().filter(|outer| outer.kind() == "call").filter_map(|outer| field(outer, "function"));
            let mut callees = callees.map(|callee| {
                let last = text(callee, source).rsplit('.').next().unwrap_or("");
                HARMLESS.contains(&last) || is_collected(callee)
            });
            let is_named = callees.next() == Some(true) && callees.all(|is_harmless| is_harmless);
            !is_target && !is_named
        };
        let is_in_function = |node: &Node<'t>| {
            std::iter::successors(node.parent(), Node::parent)
                .any(|one| one.kind() == "function_definition" && !outer.contains(&one))
        };
        nodes.iter().copied().filter(is_mention).any(|node| {
            let is_around = around.byte_range().contains(&node.start_byte());
            (is_around || is_in_function(&node)) && is_use(&node)
        })
    }
}

/// Returns the file that a call of `torch.onnx.export` writes.
fn file_of<'c, 't>(call: &'c super::super::exporting::ExportCall<'t>) -> Option<&'c Value<'t>> {
    let named = call.arguments.iter().find(|argument| argument.name.as_deref() == Some("f"));
    let third = call.arguments.get(2).filter(|argument| argument.name.is_none());
    named.or(third).map(|argument| &argument.value)
}
