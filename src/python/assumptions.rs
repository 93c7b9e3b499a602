//! Conditions assumed for exported models: no 16-bit dtypes, no FlashAttention, no training labels.

use tree_sitter::Node;

use crate::diag::{Level, rule_ids};

use super::interpreter::Interpreter;
use super::parameters::{Parameter, parameters};
use super::statements::Ends;
use super::syntax::{bare, children, everything, field, text, within};
use super::value::Value;

/// Ends of the paths of functions that export a model.
const EXPORTERS: [&str; 4] = ["onnx.export", "export.export", "jit.trace", ".to_onnx"];

/// 16-bit types.
const HALVES: [&str; 3] = ["torch.float16", "torch.half", "torch.bfloat16"];

/// Parts of names of labels that are inputs of inference, such as the labels of the points of a prompt.
const PROMPTS: [&str; 4] = ["point", "input", "prompt", "token"];

impl<'t> Interpreter<'t> {
    /// Returns the value of a comparison that is assumed for exported models.
    pub fn assumed(&self, node: Node<'t>, operators: &[&str]) -> Option<bool> {
        let [left, right] = children(node)[..] else { return None };
        let [operator] = operators else { return None };
        let holds = self.asks_for_half(left, right) || self.asks_for_flash(left, right);
        match *operator {
            "==" | "in" if holds => Some(false),
            "!=" | "not in" if holds => Some(true),
            _ => None,
        }
    }

    /// Returns true for the operands of `x.dtype == torch.float16`, if models have 32 bits.
    fn asks_for_half(&self, left: Node<'t>, right: Node<'t>) -> bool {
        let half = |side| HALVES.contains(&text(side, self.source));
        let is_dtype = |side| text(side, self.source).ends_with(".dtype");
        let asks = is_dtype(left) && half(right) || half(left) && is_dtype(right);
        asks && !(self.is_script(left) && self.has_halves(left))
    }

    /// Returns true if the file of a node may convert a model to a 16-bit type.
    ///
    /// Comparisons with a type convert nothing.
    fn has_halves(&self, node: Node<'t>) -> bool {
        let is_compared = |node: Node<'t>| {
            let mut around = node.parent();
            while let Some(outer) = around.filter(|outer| matches!(outer.kind(), "tuple" | "list" | "set")) {
                around = outer.parent();
            }
            around.is_some_and(|outer| outer.kind() == "comparison_operator")
        };
        everything(root(node)).into_iter().any(|node| match node.kind() {
            "call" => {
                let method = field(node, "function").and_then(|callee| field(callee, "attribute"));
                method.is_some_and(|method| matches!(text(method, self.source), "half" | "bfloat16"))
            }
            "attribute" => HALVES.contains(&text(node, self.source)) && !is_compared(node),
            "identifier" => {
                let path = self.globals.get(text(node, self.source));
                matches!(path, Some(Value::Name(path)) if HALVES.contains(&&**path)) && !is_compared(node)
            }
            "string" => {
                let name = text(node, self.source).trim_matches(['"', '\'']);
                matches!(name, "float16" | "bfloat16") && !is_compared(node)
            }
            _ => false,
        })
    }

    /// Returns true for the operands of `config._attn_implementation == "flash_attention_2"`.
    ///
    /// No exporter supports the kernels of FlashAttention.
    fn asks_for_flash(&self, left: Node<'t>, right: Node<'t>) -> bool {
        let is_setting = text(left, self.source).ends_with("attn_implementation");
        let strings: Vec<Node> = match right.kind() {
            "string" => vec![right],
            "tuple" | "list" | "set" => children(right),
            _ => vec![],
        };
        let is_flash = |string: &Node| {
            string.kind() == "string"
                && text(*string, self.source).trim_matches(['"', '\'']).starts_with("flash_")
        };
        is_setting && !strings.is_empty() && strings.iter().all(is_flash)
    }

    /// Runs a branch of an `if` statement.
    ///
    /// Findings in a branch that needs labels have at most level info. The same holds for loops over a size in a branch
    /// for one size only, such as the branch for a single step of a decoder.
    pub fn branch(&mut self, condition: Node<'t>, is_true: bool, block: Node<'t>) -> Ends {
        let needs_labels = u32::from(self.needs_labels(condition, is_true));
        let is_single = is_true && self.is_for_one_size(condition);
        let count = self.findings.len();
        self.checks += needs_labels;
        let ends = self.block(block);
        self.checks -= needs_labels;
        if is_single {
            let loops = self.findings.iter_mut().skip(count);
            for finding in loops.filter(|finding| *finding.code == *rule_ids::UNROLLED_LOOP.code) {
                finding.level = finding.level.min(Level::Info);
            }
        }
        ends
    }

    /// Returns true if a condition implies that a size is 1.
    fn is_for_one_size(&mut self, condition: Node<'t>) -> bool {
        self.operands(condition, "and").into_iter().any(|operand| self.compares_with_one(operand))
    }

    /// Returns the operands of a chain of one operator: `a`, `b` and `c` of `a and b and c`.
    fn operands(&self, condition: Node<'t>, operator: &str) -> Vec<Node<'t>> {
        let (mut todo, mut found) = (vec![condition], vec![]);
        while let Some(node) = todo.pop().map(bare) {
            let own = field(node, "operator").map_or("", |operator| text(operator, self.source));
            match node.kind() {
                "boolean_operator" if own == operator => {
                    todo.extend(["right", "left"].into_iter().filter_map(|side| field(node, side)));
                }
                _ => found.push(node),
            }
        }
        found
    }

    /// Returns true for a comparison of a size with 1.
    fn compares_with_one(&mut self, condition: Node<'t>) -> bool {
        let [left, right] = children(condition)[..] else { return false };
        let operator = field(condition, "operators").map_or("", |operator| text(operator, self.source));
        condition.kind() == "comparison_operator"
            && operator == "=="
            && [left, right].iter().any(|side| text(*side, self.source) == "1")
            && self.compares_sizes(condition)
    }

    /// Returns true if a condition with this value implies that labels for training are passed.
    ///
    /// The labels are an optional parameter, which an export omits. A script shows itself what its export passes.
    pub fn needs_labels(&self, condition: Node<'t>, is_true: bool) -> bool {
        let operands = self.operands(condition, if is_true { "and" } else { "or" });
        operands.into_iter().any(|operand| self.asks_for_labels(operand, is_true))
    }

    /// Returns true for a comparison of optional labels with `None`.
    fn asks_for_labels(&self, condition: Node<'t>, is_true: bool) -> bool {
        let [left, right] = children(condition)[..] else { return false };
        let operator = field(condition, "operators").map_or("", |operator| text(operator, self.source));
        let is_passed = if is_true { "is not" } else { "is" };
        condition.kind() == "comparison_operator"
            && operator == is_passed
            && right.kind() == "none"
            && self.are_optional_labels(text(left, self.source))
            && !self.is_script(condition)
    }

    /// Returns true for labels that are an optional parameter of the current function.
    fn are_optional_labels(&self, name: &str) -> bool {
        let function = self.frames.last().and_then(|frame| frame.function);
        let Some(function) = function.map(|index| self.program.functions[index].node) else { return false };
        let is_optional = |parameter: &Parameter| {
            parameter.name == name && parameter.default.is_some_and(|default| default.kind() == "none")
        };
        are_labels(name) && parameters(function, self.source).iter().any(is_optional)
    }

    /// Returns true for a function that needs labels and computes a loss, in a file that exports nothing.
    pub fn is_of_training(&self, function: Node<'t>) -> bool {
        let needs = |parameter: &Parameter| are_labels(parameter.name) && parameter.default.is_none();
        parameters(function, self.source).iter().any(needs)
            && self.computes_loss(function)
            && !self.is_script(function)
    }

    fn computes_loss(&self, function: Node<'t>) -> bool {
        let is_loss = |node: Option<Node>| node.is_some_and(|node| text(node, self.source) == "loss");
        within(function).into_iter().any(|node| match node.kind() {
            "call" => {
                let callee = field(node, "function").map_or("", |callee| text(callee, self.source));
                let name = callee.rsplit('.').next().unwrap_or(callee).to_ascii_lowercase();
                name.contains("loss") || name.ends_with("cross_entropy")
            }
            "assignment" => is_loss(field(node, "left")),
            "keyword_argument" => is_loss(field(node, "name")),
            _ => false,
        })
    }

    /// Returns true if the file of a node calls an exporter.
    fn is_script(&self, node: Node<'t>) -> bool {
        let exports = |path: &str| EXPORTERS.iter().any(|exporter| path.ends_with(exporter));
        let calls = everything(root(node)).into_iter().filter(|node| node.kind() == "call");
        calls.filter_map(|call| field(call, "function")).map(|callee| text(callee, self.source)).any(|name| {
            exports(name) || matches!(self.globals.get(name), Some(Value::Name(path)) if exports(path))
        })
    }
}

/// Returns the root of the tree of a node.
fn root(mut node: Node) -> Node {
    while let Some(outer) = node.parent() {
        node = outer;
    }
    node
}

/// Returns true for the name of a parameter with labels, or with the negatives of a contrastive loss.
fn are_labels(name: &str) -> bool {
    let is_for_loss = ["_labels", "negative_indices"].iter().any(|end| name.ends_with(end));
    (name == "labels" || is_for_loss) && !PROMPTS.iter().any(|part| name.contains(part))
}
