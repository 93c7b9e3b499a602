//! Uses of the path of a file that a loop writes.

use tree_sitter::Node;

use super::super::super::syntax::{ancestors, everything, field, text};

/// Functions that neither read nor write the file of a path.
const HARMLESS: [&str; 6] = ["str", "repr", "format", "Path", "basename", "abspath"];

/// Functions that print their arguments.
const PRINTING: [&str; 3] = ["print", "info", "debug"];

/// The mentions of a path around a call that writes the file.
pub struct PathUses<'a, 't> {
    source: &'a str,
    /// The call that writes the file.
    call: Node<'t>,
    /// The nodes around the call, from the innermost to the root.
    outer: Vec<Node<'t>>,
    /// The innermost loop or function around the call, or else the root.
    around: Node<'t>,
    /// The loops around the call, and around mentions of the functions that contain the call.
    loops: Vec<Node<'t>>,
    /// All nodes of the file.
    nodes: Vec<Node<'t>>,
    /// The variable that has the path, if the call passes a variable.
    variable: Option<&'a str>,
    path: &'a str,
}

impl<'a, 't> PathUses<'a, 't> {
    /// Finds the uses of `path`, which `call` passes as `argument`; `None` if the call has no parent.
    pub fn new(call: Node<'t>, argument: Option<Node<'t>>, path: &'a str, source: &'a str) -> Option<Self> {
        let outer: Vec<Node<'t>> = ancestors(call).collect();
        let root = *outer.last()?;
        let is_end =
            |node: &&Node| matches!(node.kind(), "for_statement" | "while_statement" | "function_definition");
        let around = outer.iter().find(is_end).copied().unwrap_or(root);
        let is_variable = |node: &Node| matches!(node.kind(), "identifier" | "attribute" | "subscript");
        let variable = argument.filter(is_variable).map(|node| text(node, source));
        let nodes = everything(root);
        let functions = outer.iter().filter(|node| node.kind() == "function_definition");
        let names: Vec<&str> =
            functions.filter_map(|node| field(*node, "name")).map(|name| text(name, source)).collect();
        let is_caller = |node: &&Node| node.kind() == "identifier" && names.contains(&text(**node, source));
        let callers = nodes.iter().filter(is_caller).copied().chain([call]);
        let loops = callers.flat_map(ancestors).filter(is_loop).collect();
        Some(PathUses { source, call, outer, around, loops, nodes, variable, path })
    }

    /// Returns true if the call, or a mention of a function that contains it, is in a loop.
    pub fn are_in_loop(&self) -> bool {
        !self.loops.is_empty()
    }

    /// Returns true if the file may be used before the next iteration of the loop writes it.
    ///
    /// It may be if the loop mentions the path elsewhere, or if another function does.
    pub fn exist(&self) -> bool {
        self.nodes.iter().any(|&node| self.derives_path(node))
            || self
                .nodes
                .iter()
                .any(|&node| self.is_mention(node) && self.is_reached(node) && self.is_use(node))
    }

    fn is_in_call(&self, node: Node) -> bool {
        self.call.byte_range().contains(&node.start_byte())
    }

    fn is_around(&self, node: Node) -> bool {
        self.around.byte_range().contains(&node.start_byte())
    }

    /// Returns true if another path is derived from the stem of a path.
    fn derives_path(&self, node: Node) -> bool {
        let last = field(node, "attribute").map(|last| text(last, self.source));
        if node.kind() != "attribute" || last != Some("with_suffix") || self.is_in_call(node) {
            return false;
        }
        let assignment = ancestors(node).find(|outer| outer.kind() == "assignment");
        let target = assignment.and_then(|assignment| field(assignment, "left"));
        target.is_none_or(|target| Some(text(target, self.source)) != self.variable)
    }

    /// Returns true if a node outside the call mentions the path.
    fn is_mention(&self, node: Node) -> bool {
        let words = text(node, self.source);
        let is_path = match node.kind() {
            "identifier" | "attribute" | "subscript" => Some(words) == self.variable,
            "string" => words.contains(self.path),
            _ => false,
        };
        is_path && !self.is_in_call(node)
    }

    /// Returns true if a node may run before the next iteration: in a loop, or in another function.
    fn is_reached(&self, node: Node) -> bool {
        let is_in_loop = self.loops.iter().any(|one| one.byte_range().contains(&node.start_byte()));
        let is_other = |one: Node| one.kind() == "function_definition" && !self.outer.contains(&one);
        is_in_loop || self.is_around(node) || ancestors(node).any(is_other)
    }

    /// Returns true if a mention of the path is more than its definition or a harmless call.
    fn is_use(&self, node: Node) -> bool {
        let is_target = node.parent().is_some_and(|parent| {
            parent.kind() == "assignment" && (field(parent, "left") == Some(node) || node.kind() == "string")
                || matches!(parent.kind(), "parameters" | "default_parameter")
        });
        let calls = ancestors(node).filter(|outer| outer.kind() == "call");
        let callees: Vec<Node> = calls.filter_map(|outer| field(outer, "function")).collect();
        let last = |callee: &Node| text(*callee, self.source).rsplit('.').next().unwrap_or("").to_owned();
        let ends = |callee: &Node| PRINTING.contains(&&*last(callee)) || self.only_collects(*callee);
        let is_harmless = callees.iter().any(ends)
            && callees.iter().all(|callee| ends(callee) || HARMLESS.contains(&&*last(callee)));
        !is_target && !is_harmless
    }

    /// Returns true if the callee appends to a list that is created empty and has no other use.
    fn only_collects(&self, callee: Node) -> bool {
        let list = field(callee, "object").map(|list| text(list, self.source));
        let is_append = field(callee, "attribute").is_some_and(|last| text(last, self.source) == "append");
        let is_list =
            |node: &&Node<'t>| node.kind() == "identifier" && Some(text(**node, self.source)) == list;
        let is_created = || {
            self.nodes.iter().any(|node| {
                let is_target = field(*node, "left").map(|left| text(left, self.source)) == list;
                is_target && field(*node, "right").is_some_and(|value| text(value, self.source) == "[]")
            })
        };
        let mentions = || self.nodes.iter().filter(is_list).filter(|node| self.is_around(**node)).count();
        is_append && is_created() && mentions() == 1
    }
}

/// Returns true for a loop or a comprehension.
pub fn is_loop(node: &Node) -> bool {
    matches!(node.kind(), "for_statement" | "while_statement" | "list_comprehension" | "generator_expression")
}
