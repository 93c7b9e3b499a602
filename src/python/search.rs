//! Search for source lines that may have caused an exporter failure, if the failure names no line.

use tree_sitter::Node;

use super::parameters::parameters;
use super::program::{ClassKind, Program};
use super::syntax::{self, Arguments, bare, children, field, fields, line, text, within};

/// A line that may have caused a failure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Suspect {
    /// Rank among the suspects; 0 is the most likely.
    pub doubt: u32,
    /// Class whose `forward` contains the line.
    pub class: String,
    /// 1-based line.
    pub line: u32,
}

/// An input of `forward`, as named by an exporter.
#[derive(Clone, Copy, Debug)]
pub enum Parameter<'a> {
    Named(&'a str),
    /// 0-based position, not counting `self`.
    Position(usize),
    Any,
}

/// Returns lines in `forward` that may require `size` on an input axis, most likely first.
pub fn fixed_sizes(source: &str, parameter: Parameter, axis: Option<u32>, size: i64) -> Vec<Suspect> {
    let mut found = Vec::new();
    for_each_forward(source, |class, function| {
        let names: Vec<&str> = parameters(function, source).iter().skip(1).map(|p| p.name).collect();
        let taken = match parameter {
            Parameter::Named(name) => names.iter().find(|own| **own == name),
            Parameter::Position(at) => names.get(at),
            Parameter::Any => names.first(),
        };
        let (Some(_), Some(body)) = (taken, field(function, "body")) else { return };
        for node in within(body) {
            if let Some(doubt) = fixes(node, axis, size, source) {
                found.push(Suspect { doubt, class: class.to_owned(), line: line(node) });
            }
        }
    });
    found.sort();
    found
}

/// Returns lines in `forward` that call an operator of this name.
pub fn calls_of(source: &str, operator: &str) -> Vec<Suspect> {
    let base = operator.rsplit("::").next().unwrap_or(operator);
    let base = base
        .split('.')
        .find(|part| !matches!(*part, "torch" | "ops" | "aten" | "prims" | "prim"))
        .unwrap_or(base);
    let short =
        ["special_", "linalg_", "fft_"].iter().find_map(|family| base.strip_prefix(family)).unwrap_or(base);
    let mut found = Vec::new();
    for_each_forward(source, |class, function| {
        let Some(body) = field(function, "body") else { return };
        for call in within(body).into_iter().filter(|node| node.kind() == "call") {
            let name = field(call, "function").map_or("", |callee| text(callee, source));
            let last = name.rsplit('.').next().unwrap_or(name).trim_end_matches('_');
            if last == base.trim_end_matches('_') || last == short {
                found.push(Suspect { doubt: 0, class: class.to_owned(), line: line(call) });
            }
        }
    });
    found.sort();
    found
}

/// Returns the number of modules with a `forward` that are not submodules of another module.
pub fn models(source: &str) -> usize {
    let Some(tree) = syntax::parse(source) else { return 0 };
    let program = Program::of(tree.root_node(), source);
    let is_model = |class: &usize| {
        let own = &program.classes[*class];
        own.kind == ClassKind::Module && own.methods.contains_key("forward") && !program.is_part(*class)
    };
    (0..program.classes.len()).filter(is_model).count()
}

fn for_each_forward(source: &str, mut visit: impl FnMut(&str, Node)) {
    let Some(tree) = syntax::parse(source) else { return };
    let program = Program::of(tree.root_node(), source);
    for class in program.classes.iter().filter(|class| class.kind == ClassKind::Module) {
        for method in class.methods.iter().filter(|(name, _)| **name == "forward").map(|(_, method)| *method)
        {
            visit(class.name, program.functions[method].node);
        }
    }
}

/// Returns the [`Suspect::doubt`] of a node, or `None` if the node cannot require the size.
fn fixes(node: Node, axis: Option<u32>, size: i64, source: &str) -> Option<u32> {
    if node.kind() == "comparison_operator" {
        let sized = text(node, source).contains(".shape") || text(node, source).contains(".size(");
        let equal = children(node).into_iter().any(|side| is_number(side, size, source));
        return (sized && equal).then_some(2);
    }
    if matches!(node.kind(), "for_statement" | "for_in_clause") {
        let over = field(node, "right").map_or("", |right| text(right, source));
        let asked = |size: &str| axis.is_none_or(|axis| over.contains(&format!("{size}{axis}")));
        let counts = over.contains("range(")
            && (asked(".shape[") || asked(".size(") || axis == Some(0) && over.contains("len("));
        let unbinds = over.contains(".unbind(");
        return (counts || unbinds).then_some(if counts { 1 } else { 3 });
    }
    if node.kind() != "call" {
        return None;
    }
    let name = field(node, "function").map_or("", |callee| text(callee, source));
    let last = name.rsplit('.').next().unwrap_or(name);
    let arguments = Arguments::of(node, source).positional;
    if makes_number(name) {
        let of = field(node, "arguments").map_or("", |of| text(of, source));
        let is_asked = |size: &str| match axis {
            Some(axis) => of.contains(&format!("{size}{axis}")),
            None => of.contains(size),
        };
        return (is_asked(".shape[") || is_asked(".size(") || name == "len" && axis == Some(0)).then_some(1);
    }
    let sizes = match arguments.as_slice() {
        [list] | [list, ..] if matches!(bare(*list).kind(), "tuple" | "list") => children(bare(*list)),
        _ => arguments,
    };
    let at = sizes.iter().position(|argument| is_number(*argument, size, source))?;
    let same_axis = axis.is_none_or(|axis| usize::try_from(axis) == Ok(at));
    match last {
        "reshape" | "view" | "expand" | "broadcast_to" | "unflatten" => Some(u32::from(!same_axis)),
        "zeros" | "ones" | "empty" | "full" | "rand" | "randn" | "new_zeros" | "new_ones" | "new_full"
        | "new_empty" => Some(3 + u32::from(!same_axis)),
        _ => None,
    }
}

/// Returns true for functions that convert a size to a Python number.
fn makes_number(name: &str) -> bool {
    matches!(name, "int" | "len" | "round" | "operator.index")
        || name.starts_with("math.") && name != "math.prod"
}

fn is_number(node: Node, size: i64, source: &str) -> bool {
    node.kind() == "integer" && text(node, source).parse() == Ok(size)
}

/// Returns the imported modules as relative paths without `.py`.
/// For `from net.blocks import Block`, the path is `net/blocks`.
pub fn imported(source: &str) -> Vec<String> {
    let Some(tree) = syntax::parse(source) else { return vec![] };
    let mut found = Vec::new();
    for node in within(tree.root_node()) {
        let names = match node.kind() {
            "import_from_statement" => field(node, "module_name").into_iter().collect(),
            "import_statement" => fields(node, "name"),
            _ => continue,
        };
        for name in names {
            let name = field(name, "name").unwrap_or(name);
            let path = text(name, source).trim_start_matches('.').replace('.', "/");
            if !path.is_empty() && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "import os\nfrom .net.blocks import Block\nfrom torch import nn\n\
        class A(nn.Module):\n    def forward(self, x):\n        return x.reshape(2, 12)\n\
        class B(nn.Module):\n    def forward(self, y, x):\n        z = torch.ones((2, 5))\n        \
        return torch.special.bessel_j0(x).view(3, 2) + z\n";

    #[track_caller]
    fn check(found: &[Suspect], expected: &[(u32, &str, u32)]) {
        let found: Vec<_> = found.iter().map(|s| (s.doubt, s.class.as_str(), s.line)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_that_fix_a_size_are_ranked() {
        check(
            &fixed_sizes(SOURCE, Parameter::Named("x"), Some(0), 2),
            &[(0, "A", 6), (1, "B", 10), (3, "B", 9)],
        );
        check(&fixed_sizes(SOURCE, Parameter::Position(1), Some(0), 3), &[(0, "B", 10)]);
        check(&fixed_sizes(SOURCE, Parameter::Named("k"), Some(0), 2), &[]);
        check(&fixed_sizes("class (", Parameter::Any, None, 2), &[]);
    }

    #[test]
    fn operator_calls_imports_and_models_are_found() {
        for name in ["aten::special_bessel_j0", "prims.bessel_j0", "torch.ops.prims.bessel_j0.default"] {
            check(&calls_of(SOURCE, name), &[(0, "B", 10)]);
        }
        check(&calls_of(SOURCE, "aten::relu"), &[]);
        assert_eq!(imported(SOURCE), ["os", "net/blocks", "torch"]);
        assert_eq!(models(SOURCE), 2);
        assert_eq!(models(&SOURCE.replace("z = torch.ones", "self.part = A()\n        z = torch.ones")), 1);
    }
}
