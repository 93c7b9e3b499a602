//! Pasted code: interactive sessions, indented lines, a bare `forward`, and loose statements.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::excerpt::{Excerpt, Origin};
use super::syntax::{bare, children, field, parse, text, within};

/// Returns pasted code as a script, or `None` if the text stays as it is.
pub fn layout(source: &str) -> Option<Excerpt> {
    let plain = without_prompts(source).or_else(|| without_indent(source));
    let text = plain.as_ref().map_or(source, |excerpt| &excerpt.text);
    let outer = framed(text);
    match (plain, outer) {
        (Some(plain), Some(outer)) => Some(plain.around(outer)),
        (plain, outer) => plain.or(outer),
    }
}

fn significant(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

/// Returns the code of an interactive session.
///
/// A session starts with `>>>`, or has lines with this prompt and is not valid Python. Returns `None` for
/// text that is not a session.
fn without_prompts(source: &str) -> Option<Excerpt> {
    const PROMPTS: [&str; 4] = [">>> ", "... ", ">>>", "..."];
    let is_prompt = |line: &str| line.trim_start().starts_with(">>>");
    let starts_with_prompt = is_prompt(significant(source).next()?);
    let is_no_code = || parse(source).is_some_and(|tree| tree.root_node().has_error());
    let has_prompt = source.lines().any(|line| line.starts_with(">>> "));
    if !starts_with_prompt && (!has_prompt || !is_no_code()) {
        return None;
    }
    let mut excerpt = Excerpt::default();
    for (at, line) in source.lines().enumerate() {
        let inner = line.trim_start();
        let code = PROMPTS.iter().find_map(|prompt| inner.strip_prefix(prompt)).unwrap_or("");
        excerpt.push(code, origin(at, line, line.len() - code.len()));
    }
    Some(excerpt)
}

/// Removes the indentation that all lines of a paste share.
fn without_indent(source: &str) -> Option<Excerpt> {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    if indent(significant(source).next()?) == 0 {
        return None;
    }
    let shared = significant(source).map(indent).min().filter(|shared| *shared > 0)?;
    let mut excerpt = Excerpt::default();
    for (at, line) in source.lines().enumerate() {
        let cut = shared.min(indent(line));
        excerpt.push(&line[cut..], origin(at, line, cut));
    }
    Some(excerpt)
}

fn origin(at: usize, line: &str, cut: usize) -> Origin {
    let columns = line.get(..cut).map_or(0, |cut| cut.chars().count());
    Origin {
        line: u32::try_from(at + 1).unwrap_or(u32::MAX),
        shift: i64::try_from(columns).unwrap_or(0),
        cell: None,
        code: line.trim_end().into(),
    }
}

/// Header of the class that frames pasted code.
const CLASS: &str = "class Snippet(torch.nn.Module):";

/// Puts bare methods into a module, or loose statements into the `forward` of a module.
fn framed(source: &str) -> Option<Excerpt> {
    let starts = |word: &str| source.lines().any(|line| line.starts_with(word));
    let is_script = ["import ", "from ", "class ", "def ", "@", "if "].iter().any(|word| starts(word));
    if is_script && !starts("def forward(") {
        return None;
    }
    let tree = parse(source)?;
    let root = tree.root_node();
    if root.has_error() {
        return None;
    }
    if children(root).into_iter().any(|node| is_forward(node, source)) {
        return Some(methods(root, source));
    }
    let inputs = unbound(root, source)?;
    let mut excerpt = Excerpt::default();
    excerpt.push_frame(CLASS);
    excerpt.push_frame(&format!("    def forward(self, {}):", Vec::from_iter(inputs).join(", ")));
    // If the last statement is an expression, `forward` returns its value.
    let last = children(root).last().and_then(|statement| children(*statement).first().copied());
    let result = last.filter(|node| !matches!(node.kind(), "assignment" | "augmented_assignment"));
    let result = result.map(|node| node.start_position().row);
    for (at, line) in source.lines().enumerate() {
        let lead = if result == Some(at) { "        return " } else { "        " };
        let shift = i64::try_from(lead.len()).unwrap_or(0);
        excerpt.push(&format!("{lead}{line}"), Origin { shift: -shift, ..origin(at, line, 0) });
    }
    Some(excerpt)
}

/// Adds a class header before the first top-level function with a parameter `self`.
///
/// All top-level functions with a parameter `self` are indented.
fn methods(root: Node, source: &str) -> Excerpt {
    let is_method = |node: &Node| takes_self(*node, source);
    let ranges: Vec<_> = children(root)
        .into_iter()
        .filter(is_method)
        .map(|node| node.start_position().row..=node.end_position().row)
        .collect();
    let first = ranges.first().map_or(0, |range| *range.start());
    let mut excerpt = Excerpt::default();
    for (at, line) in source.lines().enumerate() {
        if at == first {
            excerpt.push_frame(CLASS);
        }
        if ranges.iter().any(|range| range.contains(&at)) {
            excerpt.push(&format!("    {line}"), Origin { shift: -4, ..origin(at, line, 0) });
        } else {
            excerpt.push(line, origin(at, line, 0));
        }
    }
    excerpt
}

fn is_forward(node: Node, source: &str) -> bool {
    let definition = field(node, "definition").unwrap_or(node);
    let name = field(definition, "name").map_or("", |name| text(name, source));
    takes_self(node, source) && name == "forward"
}

fn takes_self(node: Node, source: &str) -> bool {
    let definition = field(node, "definition").unwrap_or(node);
    let parameters = field(definition, "parameters").map(children).unwrap_or_default();
    definition.kind() == "function_definition"
        && parameters.first().is_some_and(|first| text(*first, source) == "self")
}

/// Names that code may use without binding them.
const CUSTOMARY: [&str; 8] = ["torch", "np", "numpy", "nn", "F", "math", "self", "onnx"];

/// Returns the unbound names of loose statements about tensors, or `None` for any other code.
fn unbound<'t>(root: Node<'t>, source: &'t str) -> Option<BTreeSet<&'t str>> {
    let statements = children(root);
    let is_loose = |node: &Node| node.kind() == "expression_statement";
    let uses = ["torch.", "np.", "F."];
    if statements.is_empty() || !statements.iter().all(is_loose) || !uses.iter().any(|of| source.contains(of))
    {
        return None;
    }
    let nodes = within(root);
    // Loose statements that export, load, save or print something are a script, not a part of a model.
    let is_script = nodes.iter().any(|node| {
        let callee = if node.kind() == "call" { field(*node, "function") } else { None };
        let callee = callee.map_or("", |callee| text(bare(callee), source));
        let last = callee.rsplit('.').next().unwrap_or("");
        ["export", "load", "save", "print", "eval", "open"].iter().any(|verb| last.contains(verb))
    });
    let parent_is = |node: &Node, kind: &str| node.parent().is_some_and(|parent| parent.kind() == kind);
    let is_name = |node: &&Node| {
        let is_member = node.parent().and_then(|parent| field(parent, "attribute")) == Some(**node);
        let is_keyword = parent_is(node, "keyword_argument")
            && node.parent().and_then(|parent| field(parent, "name")) == Some(**node);
        node.kind() == "identifier" && !is_member && !is_keyword
    };
    let mut bound: BTreeSet<&str> = CUSTOMARY.into_iter().collect();
    let mut free = BTreeSet::new();
    for node in nodes.iter().filter(is_name) {
        let name = text(*node, source);
        let is_called = parent_is(node, "call");
        if is_called && !bound.contains(name) {
            // Code that calls an unknown function is not framed, because the function may do anything.
            return None;
        }
        if !bound.contains(name) && !is_target(*node) {
            free.insert(name);
        }
        if is_target(*node) {
            bound.insert(name);
        }
    }
    (!is_script).then_some(free)
}

/// Returns true if a name is bound by the assignment that contains it.
fn is_target(name: Node) -> bool {
    let mut at = name;
    while let Some(parent) = at.parent() {
        match parent.kind() {
            "pattern_list" | "tuple_pattern" | "list_pattern" => at = parent,
            "assignment" => return field(parent, "left") == Some(at),
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: Option<&str>) {
        assert_eq!(layout(source).as_ref().map(|excerpt| &*excerpt.text), expected, "{source}");
    }

    #[test]
    fn scripts_are_left_as_they_are() {
        for source in
            ["import torch\nx = torch.ones(2)\n", "", "class A:\n    pass\n", "x = 3\n", "lr = 1e-3\n"]
        {
            check(source, None);
        }
        check("model = torch.load(path)\nmodel.eval()\n", None);
        check("y = helper(x)\nz = torch.relu(y)\n", None);
    }

    #[test]
    fn prompts_and_shared_indentation_are_removed() {
        check(
            ">>> import torch\n>>> def f(x):\n...     return x\n...\n>>> f(1)\n1\n",
            Some("import torch\ndef f(x):\n    return x\n\nf(1)\n\n"),
        );
        check("Python 3.11 on linux\n>>> x = 1\n", Some("\nx = 1\n"));
        check("    import torch\n    # note\n    x = 1\n", Some("import torch\n# note\nx = 1\n"));
    }

    #[test]
    fn bare_methods_get_a_class() {
        check(
            "# before\ndef forward(self, x):\n    return x.item()\n",
            Some(
                "# before\nclass Snippet(torch.nn.Module):\n    def forward(self, x):\n        return x.item()\n",
            ),
        );
    }

    #[test]
    fn loose_statements_get_their_unbound_names_as_inputs() {
        check(
            "i = torch.tensor([1])\ndata[i] = new\n",
            Some(
                "class Snippet(torch.nn.Module):\n    def forward(self, data, new):\n        \
                 i = torch.tensor([1])\n        data[i] = new\n",
            ),
        );
    }
}
