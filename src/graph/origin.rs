//! Module paths of nodes, from exporter metadata and node names.

use super::Node;

/// Returns the path of the node's module, such as `/encoder/layers.0/attn`.
/// Reads the `namespace` metadata entry, or else a node name that starts with `/`. The path is empty for the
/// outermost module, and for a node without this entry whose name does not start with `/`.
pub fn module_path(node: &Node) -> String {
    if let Some(namespace) = node.metadata("namespace") {
        return module_of_namespace(namespace);
    }
    let name = node.name.as_deref().filter(|name| name.starts_with('/')).unwrap_or("");
    name.rsplit_once('/').map_or(String::new(), |(module, _)| module.to_owned())
}

/// Returns the innermost module of a `namespace` entry: `/block.fc` in the example.
/// `: Net/block: Block/block.fc: Linear/linear: aten.linear.default` lists modules with their classes,
/// outermost first, and ends with the operator. Names that start with `_`, such as hooks, are skipped.
fn module_of_namespace(namespace: &str) -> String {
    let scopes: Vec<&str> = namespace.split('/').collect();
    let modules = scopes.split_last().map_or(&[][..], |(_, modules)| modules);
    let name = modules.iter().rev().map(|scope| scope.split(": ").next().unwrap_or("").trim());
    let innermost = name.filter(|name| !name.is_empty() && *name != ":").find(|name| !name.starts_with('_'));
    innermost.map_or(String::new(), |name| format!("/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespace_contains_innermost_module() {
        let check = |namespace, expected| assert_eq!(module_of_namespace(namespace), expected, "{namespace}");
        check(": net.M/block: net.B/relu: aten.relu.default", "/block");
        check(": net.M/net: Sequential/net.1: BatchNorm2d/bn: aten.batch_norm", "/net.1");
        check(": net.M/mul: aten.mul.Tensor", "");
        check("_empty_hook: _empty_hook/sym_size: aten.sym_size.int", "");
        check("", "");
    }
}
