//! Nodes of TorchScript graphs in a log: operator, values and source line.
//!
//! The nodes serve to attribute remarks to source lines. The TorchScript reader parses the whole graphs.

use rustc_hash::{FxHashMap, FxHashSet};

/// A node line: `%y : Float(2) = aten::add(%x, %1), scope: Net:: # /app/net.py:60:0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// 0-based line of the log.
    pub log_line: usize,
    /// Number of the graph in the log, from 1; 0 before the first graph.
    pub graph: usize,
    /// Text of the line.
    pub text: &'a str,
    /// `aten::add`, or `^Square` for a `torch.autograd.Function`.
    pub operator: &'a str,
    /// File and 1-based line of the Python code.
    pub location: (&'a str, u32),
}

/// Returns the nodes in `lines` that have a source location.
pub fn nodes<'a>(lines: &[&'a str]) -> Vec<Node<'a>> {
    let mut graph = 0;
    let mut nodes = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if line.trim_start().starts_with('%') {
            nodes.extend(node(line, at, graph));
        } else if line.contains("graph(") {
            graph += 1;
        }
    }
    nodes
}

fn node(line: &str, log_line: usize, graph: usize) -> Option<Node<'_>> {
    let (_, location) = line.rsplit_once(" # ")?;
    let mut parts = location.trim_end().rsplitn(3, ':');
    let (_column, number, file) = (parts.next()?, parts.next()?, parts.next()?);
    let (_, call) = line.split_once(" = ")?;
    let operator = &call[..call.find(['(', '[', ' '])?];
    let location = (file, number.parse().ok()?);
    let is_operator = operator.contains("::") || operator.starts_with('^');
    is_operator.then_some(Node { log_line, graph, text: line, operator, location })
}

impl<'a> Node<'a> {
    /// Returns the name without namespace and without the `_` of in-place variants: `add` for `aten::add_`.
    pub fn name(&self) -> &'a str {
        self.operator.rsplit(['^', ':']).next().unwrap_or("").trim_end_matches('_')
    }

    /// Returns the names of the outputs.
    pub fn outputs(&self) -> impl Iterator<Item = &'a str> {
        let (head, _) = self.text.split_once(" = ").unwrap_or(("", ""));
        head.split_whitespace()
            .filter(|word| word.starts_with('%'))
            .map(|word| word.trim_end_matches([',', ':']))
    }

    /// Returns the names of the inputs.
    pub fn inputs(&self) -> impl Iterator<Item = &'a str> {
        let call = self.text.split_once(" = ").map_or("", |(_, call)| call);
        // Attributes are in brackets between the operator and its arguments.
        let arguments = call.rsplit_once(", scope:").map_or(call, |(call, _)| call);
        let open = arguments.find("](").map(|at| at + 1).or_else(|| arguments.find('('));
        let inside = open.map_or("", |at| &arguments[at + 1..]);
        inside.split([',', ')']).map(str::trim).filter(|word| word.starts_with('%'))
    }
}

/// Returns the node that PyTorch warned about because it changes a size in place.
///
/// In the final graph, nodes that used the old size use the changed size instead. If a node has the changed
/// size as both operands (`Add(v, v)`), returns the producer of that size; otherwise, returns the first
/// arithmetic node on a size.
pub fn shape_write<'a>(nodes: &[Node<'a>]) -> Option<Node<'a>> {
    let mut sizes = FxHashSet::default();
    let mut first = None;
    let mut made: FxHashMap<&str, Node<'a>> = FxHashMap::default();
    for node in nodes {
        let inputs: Vec<&str> = node.inputs().collect();
        let from_size = inputs.iter().any(|input| sizes.contains(input));
        let twice = inputs.len() == 2 && inputs[0] == inputs[1];
        let name = node.name().to_ascii_lowercase();
        match name.as_str() {
            "shape" | "size" => sizes.extend(node.outputs()),
            "add" | "sub" | "mul" | "div" | "floor_divide" if from_size => {
                if twice && let Some(change) = made.get(inputs[0]) {
                    return Some(*change);
                }
                first = first.or(Some(*node));
                made.extend(node.outputs().map(|output| (output, *node)));
                sizes.extend(node.outputs());
            }
            "gather" | "cast" | "numtotensor" | "select" | "int" | "identity" | "unsqueeze" | "squeeze"
            | "slice"
                if from_size =>
            {
                sizes.extend(node.outputs());
            }
            _ => {}
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, u32, usize, usize)]) {
        let lines: Vec<&str> = text.lines().collect();
        let found: Vec<_> = nodes(&lines)
            .iter()
            .map(|n| (n.operator, n.location.1, n.outputs().count(), n.inputs().count()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn nodes_of_aten_and_onnx_graphs_are_read() {
        check(
            "graph(%x : Float(2)):\n  \
             %a, %b : Float(2), %c : Long() = aten::foo(%x, %1), scope: M:: # /app/net.py:60:0\n  \
             %d : Float(2) = onnx::Add[axis=0, onnx_name=\"/Add\"](%a, %b), scope: M:: # C:\\net.py:7:15\n  \
             %e : Long() = onnx::Constant[value={1}]()\n  return (%d)",
            &[("aten::foo", 60, 3, 2), ("onnx::Add", 7, 1, 2)],
        );
        check("%broken = \n % # a:b:c\n%x = y # f:1:0\n%x = aten::y() # f:one:0", &[]);
    }
}
