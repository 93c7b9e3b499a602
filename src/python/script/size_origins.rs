//! Expressions that bring constant sizes into a model, such as `x.repeat(cfg.batch, 1, 1)`.

use tree_sitter::Node;

use super::super::syntax::{Arguments, children, field, text};
use super::calls::Args;
use super::machine::Machine;
use super::record::SizeOrigin;
use super::value::{Function, FunctionKind, Value};

/// Functions and methods whose first arguments are sizes of the result, or numbers of repetitions.
const MAKERS: [&str; 14] = [
    "zeros",
    "ones",
    "empty",
    "rand",
    "randn",
    "full",
    "expand",
    "repeat",
    "tile",
    "new_zeros",
    "new_ones",
    "new_empty",
    "new_full",
    "broadcast_to",
];

impl<'t> Machine<'t> {
    /// Records the sizes of a tensor that a call creates, while a model runs with other sizes.
    pub fn note_sizes(&mut self, function: Node<'t>, args: &Args<'t>, result: &Value<'t>) {
        if self.record.is_none() || !matches!(result, Value::Tensor(_)) {
            return;
        }
        let callee = self.text(function);
        let name = callee.rsplit('.').next().unwrap_or(callee);
        if !MAKERS.contains(&name) {
            return;
        }
        let mut found = vec![];
        for (at, (value, node)) in args.positional.iter().enumerate() {
            let Some(node) = node else { return };
            match value {
                Value::Int(size) => found.push((at, *node, *size)),
                Value::Tuple(sizes) if matches!(node.kind(), "tuple" | "list") => {
                    let nodes = children(*node);
                    if nodes.len() == sizes.len() {
                        let sizes = nodes.into_iter().zip(sizes.iter());
                        found.extend(
                            sizes.enumerate().filter_map(|(at, (node, size))| Some((at, node, size.int()?))),
                        );
                    }
                }
                _ => {}
            }
        }
        // A literal after the first size is rarely the batch.
        found.retain(|(at, node, _)| *at == 0 || node.kind() != "integer");
        for (_, node, size) in found {
            let (file, origin) = self.argument_origin(node);
            if let Some(record) = &mut self.record {
                record.sizes.push(SizeOrigin { file, node: origin, size });
            }
        }
    }

    /// Follows an argument through the parameters of active calls to its expression, and returns the file.
    fn argument_origin(&self, node: Node<'t>) -> (usize, Node<'t>) {
        let (mut file, mut node) = (self.file(), node);
        for frame in self.frames.iter().rev() {
            let (Some(function), Some((caller, call))) = (&frame.function, frame.call) else { break };
            if frame.file != file || node.kind() != "identifier" {
                break;
            }
            let name = text(node, self.source(file));
            let Some(argument) = self.argument_for(function, name, caller, call) else { break };
            (file, node) = (caller, argument);
        }
        (file, node)
    }

    /// Returns the expression that a call passes for the parameter `name` of a function.
    fn argument_for(
        &self,
        function: &Function<'t>,
        name: &str,
        caller: usize,
        call: Node<'t>,
    ) -> Option<Node<'t>> {
        let source = self.source(function.file);
        let parameters = field(function.node, "parameters")?;
        let is_named = |node: &Node<'t>| {
            let inner = field(*node, "name")
                .or_else(|| (node.kind() == "typed_parameter").then(|| children(*node).first().copied())?)
                .unwrap_or(*node);
            text(inner, source) == name
        };
        let at = children(parameters).iter().position(is_named)?;
        if call.kind() != "call" {
            return None;
        }
        let arguments = Arguments::of(call, self.source(caller));
        let is_method = function.class.is_some() && function.kind != FunctionKind::Static;
        let at = if is_method { at.checked_sub(1)? } else { at };
        if arguments.spreads.is_empty() { arguments.get(at, name) } else { None }
    }
}
