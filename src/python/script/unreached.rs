//! Names that PyTorch does not have, in code that the script does not run.

use tree_sitter::Node;

use super::super::program::Program;
use super::super::syntax::{field, text};
use super::machine::{Machine, Stop};

/// Kinds of nodes whose code may be for another release of PyTorch, in which a missing name exists.
const GUARDED: [&str; 4] = ["if_statement", "try_statement", "conditional_expression", "boolean_operator"];

impl<'t> Machine<'t> {
    /// Reports names of the script that PyTorch does not have.
    ///
    /// Code that may be for another release of PyTorch than the linted one is not checked.
    pub fn check_names(&mut self, program: &Program) {
        let source = self.source(0);
        let files = self.files;
        let mut cursor = files[0].tree.walk();
        loop {
            let node = cursor.node();
            if node.kind() == "attribute" {
                self.check_name(node, program, source);
            }
            if !GUARDED.contains(&node.kind()) && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    fn check_name(&mut self, node: Node<'t>, program: &Program, source: &str) {
        let (Some(object), Some(name)) = (field(node, "object"), field(node, "attribute")) else { return };
        let object = text(object, source);
        if is_imported(program, object)
            && let Some(Stop::Raised(raised)) =
                self.missing_name(&program.full_path(object), text(name, source), node)
        {
            self.tell(raised.finding);
        }
    }
}

/// Returns true if the first name of a path is imported.
fn is_imported(program: &Program, path: &str) -> bool {
    program.imports.contains_key(path.split('.').next().unwrap_or(path))
}
