//! Attributes that a script may define in ways that the interpreter does not follow.

use tree_sitter::Node;

use super::super::syntax::{children, everything, field, string, text};
use super::machine::Machine;

/// Code that may add any attribute to an object.
const WRITERS: [&str; 7] =
    ["setattr", "vars(", "__dict__", "__class__", "__getattr", "._modules", "register_forward"];

impl Machine<'_> {
    /// Returns true if the script may define an attribute `name` of an object, or tests whether it exists.
    ///
    /// This holds if a file has a string with the name, assigns to an attribute of the name, or has code that may add
    /// any attribute.
    pub fn may_define(&self, name: &str) -> bool {
        self.files.iter().any(|file| {
            let source = &*file.text;
            WRITERS.iter().any(|writer| file.code().contains(writer))
                || is_counted(name, file.code())
                || everything(file.tree.root_node()).into_iter().any(|node| match node.kind() {
                    "string" => string(node, source) == Some(name),
                    "attribute" => {
                        field(node, "attribute").is_some_and(|last| text(last, source) == name)
                            && is_target(node)
                    }
                    "call" => named(node, "function", &["exec", "eval"], source),
                    // The class of an action may set any argument.
                    "keyword_argument" => {
                        named(node, "name", &["namespace"], source)
                            || named(node, "name", &["action"], source)
                                && field(node, "value").is_none_or(|value| value.kind() != "string")
                    }
                    _ => false,
                })
        })
    }

    /// Returns true if a file of the script contains any of these pieces of code.
    ///
    /// Comments and docstrings are no code.
    pub fn mentions(&self, codes: &[&str]) -> bool {
        (0..self.files.len()).any(|file| self.file_mentions(file, codes))
    }

    /// Returns true if a file contains any of these pieces of code, besides comments and docstrings.
    pub fn file_mentions(&self, file: usize, codes: &[&str]) -> bool {
        codes.iter().any(|code| self.files[file].code().contains(code))
    }

    /// Returns true if a class of the script derives from an enumeration, and from `str` if `of_text`.
    pub fn has_enumeration(&self, of_text: bool) -> bool {
        self.files.iter().filter(|file| file.code().contains("Enum")).any(|file| {
            let source = &*file.text;
            let last = |base: &Node| text(*base, source).rsplit('.').next().unwrap_or("").to_owned();
            everything(file.tree.root_node()).into_iter().any(|node| {
                let bases = field(node, "superclasses").filter(|_| node.kind() == "class_definition");
                let bases: Vec<String> = bases.map(children).unwrap_or_default().iter().map(last).collect();
                let is_text = !of_text || bases.iter().any(|base| base == "str" || base == "StrEnum");
                is_text && bases.iter().any(|base| base.contains("Enum"))
            })
        })
    }

    /// Returns true if the script may replace the result of a module by hooks or other functions.
    pub fn may_replace_forward(&self) -> bool {
        self.mentions(&["_hook", "setattr(", "mock"]) || self.is_patched("forward")
    }

    /// Returns true if the script assigns to an attribute `name` of an object other than `self`.
    pub fn is_patched(&self, name: &str) -> bool {
        self.files.iter().any(|file| {
            let source = &*file.text;
            let is_other = |node: Node| {
                node.kind() == "attribute"
                    && named(node, "attribute", &[name], source)
                    && !named(node, "object", &["self"], source)
                    && is_target(node)
            };
            is_counted(name, file.code()) || everything(file.tree.root_node()).into_iter().any(is_other)
        })
    }
}

/// Returns true for an attribute that `thop` adds to modules.
fn is_counted(name: &str, code: &str) -> bool {
    name.starts_with("total_") && code.contains("thop")
}

/// Returns true if a part of a node has one of these texts.
fn named(node: Node, part: &str, names: &[&str], source: &str) -> bool {
    field(node, part).is_some_and(|part| names.contains(&text(part, source)))
}

/// Returns true if a statement binds an expression.
fn is_target(node: Node) -> bool {
    let mut inner = node;
    while let Some(outer) = inner.parent() {
        match outer.kind() {
            // The grammar takes `type(x).y = z` for a type alias.
            "as_pattern_target" | "type_alias_statement" => return true,
            "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause" => {
                return field(outer, "left") == Some(inner);
            }
            "pattern_list"
            | "tuple_pattern"
            | "list_pattern"
            | "list_splat_pattern"
            | "expression_list"
            | "tuple"
            | "list"
            | "parenthesized_expression"
            | "type" => inner = outer,
            _ => return false,
        }
    }
    false
}
