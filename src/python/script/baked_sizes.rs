//! Findings about sizes and branches that an export makes constant although their axis is dynamic.

use tree_sitter::Node;

use crate::diag::counted;
use crate::diag::{Finding, Level, Place, rule_ids};

use super::super::syntax::{ancestors, field, line, one_line, text, with_ancestors};
use super::machine::Machine;
use super::record::{Record, SizeOrigin, Taken};

/// Parts of the names of functions that take sizes.
const SIZED: [&str; 14] = [
    "view",
    "reshape",
    "flatten",
    "expand",
    "repeat",
    "tile",
    "broadcast",
    "zeros",
    "ones",
    "full",
    "empty",
    "rand",
    "split",
    "range",
];

impl<'t> Machine<'t> {
    /// Reports numbers that are constants in a traced graph although their axis is dynamic.
    ///
    /// `differs` is true if the replay fails or has other shapes than PyTorch. `culprits` are the expressions of
    /// numbers that change its elements.
    pub fn report_taken(&mut self, replay: &Record<'t>, differs: bool, culprits: &[Node<'t>]) {
        for (kind, file, node, number) in &replay.differing {
            let deviates = culprits.contains(node);
            let (rule, message, help) = match kind {
                Taken::Branch => continue,
                Taken::Length => (
                    rule_ids::BAKED_SHAPE,
                    format!(
                        "`{}` fixes the length of its keys at {number}, but the axis is dynamic",
                        one_line(*node, self.source(*file))
                    ),
                    "export with `dynamo=True`, which keeps the length dynamic",
                ),
                Taken::Turns => {
                    let part = |name| {
                        field(*node, name).map_or(String::new(), |part| one_line(part, self.source(*file)))
                    };
                    let head = match node.kind() {
                        "while_statement" => format!("while {}", part("condition")),
                        "call" => one_line(*node, self.source(*file)),
                        _ => format!("for {} in {}", part("left"), part("right")),
                    };
                    (
                        rule_ids::UNROLLED_LOOP,
                        match node.kind() {
                            "while_statement" => {
                                format!("`{head}` is unrolled for the example, but a size in it is dynamic")
                            }
                            _ => {
                                let items = counted(*number, "item");
                                format!("`{head}` is fixed at {items}, but its length is dynamic")
                            }
                        },
                        "compute the whole axis at once, or use a layer that exports as one operator",
                    )
                }
                Taken::Float
                    if !(deviates || differs || is_cut(*node, self.source(*file)))
                        || self.keeps_scripts(*file) =>
                {
                    continue;
                }
                Taken::Number | Taken::Float => (
                    rule_ids::BAKED_SHAPE,
                    format!(
                        "`{}` fixes {}, but the axis is dynamic",
                        one_line(*node, self.source(*file)),
                        match kind {
                            Taken::Float => format!(
                                "{}, a number from a size of the example",
                                short(f64::from_bits(number.cast_unsigned()))
                            ),
                            _ => format!("{number}, a size of the example"),
                        }
                    ),
                    help_at(*node, self.source(*file)),
                ),
            };
            let level = if deviates || differs && *kind != Taken::Float || *kind == Taken::Length {
                Level::Error
            } else {
                Level::Warning
            };
            let place = Place::Source(self.place(*file, *node));
            let finding = rule.at(level).finding(message, place);
            let note = "the tracing exporter records Python numbers as constants";
            let finding = finding.note(note).help(help);
            let finding = self.with_export(finding, *file);
            self.tell([finding]);
        }
    }

    /// Reports a model that fails at other sizes of its dynamic axes.
    pub fn report_fixed(&mut self, failure: Finding, origin: Option<(usize, Node<'t>)>) {
        let failed = failure.source.clone();
        let (place, what) = match origin {
            Some((file, node)) => (Some(self.place(file, node)), self.statement_text(file, node)),
            None => (
                failed.clone(),
                failed
                    .as_ref()
                    .and_then(|place| place.code.clone())
                    .map_or(String::new(), |code| code.trim().to_owned()),
            ),
        };
        let Some(place) = place else { return };
        let message = format!("`{what}` works only for the sizes of the example, but an axis is dynamic");
        let mut finding =
            rule_ids::BAKED_SHAPE.at(Level::Error).finding(message, Place::Source(place.clone()));
        let code = format!("{what} {}", place.code.as_deref().unwrap_or_default());
        let has_sizes = SIZED.iter().any(|name| code.contains(name));
        finding = finding.note(format!("at another size, {}", failure.message)).help(match has_sizes {
            true => "take sizes from the tensor: `x.shape[0]`, `x.flatten(1)`, `-1` for one axis",
            false => "declare only axes dynamic at which the model runs with other sizes",
        });
        if let Some(failed) = failed.filter(|failed| (&failed.file, failed.line) != (&place.file, place.line))
        {
            finding = finding.related(Place::Source(failed), "fails here");
        }
        if let Some(call) = self.exports.last() {
            let export = self.place(call.file, call.node);
            if (&export.file, export.line) != (&place.file, place.line) {
                finding = finding.related(Place::Source(export), "the export");
            }
        }
        self.tell([finding]);
    }

    /// Reports a branch on a dynamic size, if the exported one fails or has other results at another size.
    pub fn report_branch(&mut self, replay: &Record<'t>, differs: bool, failure: Option<String>) {
        let mut differing = replay.differing.iter().map(|(kind, file, node, _)| (*kind, *file, *node));
        let Some((Taken::Branch, file, condition)) = differing.next() else { return };
        // With several differences, another one may be the cause.
        if !differs
            || self.keeps_scripts(file)
            || differing.any(|other| other != (Taken::Branch, file, condition))
        {
            return;
        }
        let shown = one_line(condition, self.source(file));
        let message =
            format!("`{shown}` depends on a dynamic size: only the branch of the example is exported");
        let level = if failure.is_some() { Level::Error } else { Level::Warning };
        let note = match failure {
            Some(failure) => format!("at another size, the exported branch fails: {failure}"),
            None => "at another size, the exported branch returns another shape than PyTorch".to_owned(),
        };
        let place = Place::Source(self.place(file, condition));
        let finding = rule_ids::TRACED_BRANCH.at(level).finding(message, place).note(note);
        let finding = match help_for(condition, self.source(file)) {
            Some(help) => finding.help(help),
            None => finding,
        };
        let finding = self.with_export(finding, file);
        self.tell([finding]);
    }

    /// Adds the place of the running export to a finding in a file that the script imports.
    pub fn with_export(&self, finding: Finding, file: usize) -> Finding {
        match self.exports.last() {
            Some(call) if file != call.file => {
                finding.related(Place::Source(self.place(call.file, call.node)), "exported here")
            }
            _ => finding,
        }
    }

    /// Returns the expression of a constant that equals the batch of the example and causes a failure.
    ///
    /// `example` are the sizes of new tensors in a run on the example, and `other` those in a run that fails.
    pub fn batch_origin(
        &self,
        batches: &[i64],
        example: &[SizeOrigin<'t>],
        other: &[SizeOrigin<'t>],
        failure: &Finding,
    ) -> Option<(usize, Node<'t>)> {
        let is_named = |size: i64| {
            let number = size.to_string();
            failure.message.split(|letter: char| !letter.is_ascii_digit()).any(|word| word == number)
        };
        let is_cause =
            |one: &&SizeOrigin<'t>| one.size > 1 && batches.contains(&one.size) && is_named(one.size);
        let origin = other.iter().filter(is_cause).rfind(|one| example.contains(one))?;
        Some((origin.file, origin.node))
    }

    /// Returns the text of a call, or of the statement around another expression, on one line.
    fn statement_text(&self, file: usize, node: Node<'t>) -> String {
        if node.kind() == "call" {
            return one_line(node, self.source(file));
        }
        let around = with_ancestors(node);
        let statement = around.into_iter().find(|node| node.kind().ends_with("_statement"));
        let statement = statement.filter(|one| line(*one) == line(node) && one.kind() != "with_statement");
        one_line(statement.unwrap_or(node), self.source(file))
    }

    /// Returns true if a file may contain functions of TorchScript, whose control flow the exporter keeps.
    pub fn keeps_scripts(&self, file: usize) -> bool {
        self.file_mentions(file, &["jit.script", "script_if_tracing"])
    }
}

/// Renders a number with up to 4 decimals.
fn short(number: f64) -> String {
    format!("{number:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns true if the next call around an expression makes it an integer, as in `int(math.log2(n))`.
fn is_cut(node: Node, source: &str) -> bool {
    let list = node.parent().filter(|list| list.kind() == "argument_list");
    let call = list.and_then(|list| list.parent()).filter(|call| call.kind() == "call");
    let callee = call.and_then(|call| field(call, "function")).map_or("", |callee| text(callee, source));
    matches!(callee, "int" | "math.floor" | "math.ceil" | "round")
}

/// Returns the help for a number that Python takes from a size.
fn help_at(node: Node, source: &str) -> &'static str {
    let calls = ancestors(node)
        .take_while(|outer| !matches!(outer.kind(), "block" | "module"))
        .filter(|outer| outer.kind() == "call");
    let callee = |call: Node| field(call, "function").map_or("", |callee| text(callee, source));
    let names: Vec<&str> = calls.map(|call| callee(call).rsplit('.').next().unwrap_or("")).collect();
    let own = if node.kind() == "call" { callee(node).rsplit('.').next().unwrap_or("") } else { "" };
    let has = |words: &[&str]| names.iter().any(|name| words.contains(name));
    if has(&["range"]) {
        "use `torch.arange`, which keeps the length dynamic, instead of `range`"
    } else if node.kind() == "call" && callee(node).ends_with(".prod") {
        "use `math.prod`, which multiplies the sizes themselves, without `int`"
    } else if node.kind() == "call" && (callee(node).starts_with("np.") || callee(node).starts_with("numpy."))
    {
        "create the tensor with PyTorch: `torch.ones`, `torch.arange`"
    } else if names.iter().any(|name| name.contains("_pool") || name.contains("Pool")) {
        "reduce the whole axis with `amax` or `mean`, or pool with `F.adaptive_max_pool1d(x, 1)`"
    } else if has(&["interpolate", "Upsample"]) {
        "pass `size=` to `interpolate`, computed from the sizes without `float`"
    } else if ["tensor", "as_tensor", "asarray", "scalar_tensor"].contains(&own) {
        "convert each size by itself: `torch.stack([torch.as_tensor(n) for n in sizes])`"
    } else if own == "sqrt" {
        "write `n ** 0.5` with the size itself, which keeps it dynamic"
    } else if ["log", "log2", "log10", "exp"].contains(&own) {
        "compute with tensors: `torch.as_tensor(x.shape[1]).float().log()`"
    } else if own == "len" {
        "take the size from the shape: `x.shape[0]`"
    } else if text(node, source).contains('/') {
        "compute with the sizes themselves: without `int`, and with `//` instead of `/`"
    } else {
        "compute with the sizes themselves, without `int`, `float` and `len`"
    }
}

/// Returns the help for a branch on a size, if one is known to work.
fn help_for(condition: Node, source: &str) -> Option<&'static str> {
    let shown = text(condition, source);
    let branch = condition.parent().and_then(|branch| field(branch, "consequence"));
    let resizes = branch.is_some_and(|branch| text(branch, source).contains("interpolate("));
    match () {
        () if shown.contains('%') => Some("avoid the branch: pad by `-n % k`"),
        () if resizes => {
            Some("call `interpolate` in both cases: it keeps a tensor that has the size already")
        }
        () if shown.contains(" is ") || shown.contains("=") => None,
        () if shown.contains(['<', '>']) => {
            Some("avoid the branch: slice instead (a slice stops at the end of the axis)")
        }
        () => None,
    }
}
