//! Runs of a model with other sizes on the axes that a call declares dynamic.
//!
//! A first run, with sizes different from those of the example, computes like PyTorch. A second run is a
//! replay that computes like the traced graph: numbers that Python took from sizes are those of the example.

use std::rc::Rc;

use tree_sitter::Node;

use crate::diag::counted;
use crate::diag::{Finding, Level, Place, rule_ids};

use super::super::syntax::{Arguments, children, field, line, one_line};
use super::calls::Args;
use super::exporting::ExportCall;
use super::machine::{Eval, Machine, Stop};
use super::record::{Record, Reshape, Taken};
use super::tensor::{self, Dim, Shape, Tensor};
use super::value::Value;

impl<'t> Machine<'t> {
    /// Returns the number that Python takes at `node`; a replay returns the number recorded there.
    pub fn taken(&mut self, kind: Taken, node: Node<'t>, number: i64) -> i64 {
        let file = self.file();
        if kind == Taken::Turns && !self.examples.is_empty() && self.quiet == 0 {
            self.loops.push((file, node));
        }
        let Some(record) = &mut self.record else { return number };
        let Some(at) = record.at else {
            record.numbers.push((file, node.id(), number));
            return number;
        };
        match record.numbers.get(at) {
            Some((known_file, known, recorded)) if (*known_file, *known) == (file, node.id()) => {
                let recorded = *recorded;
                record.at = Some(at + 1);
                if recorded != number {
                    record.differing.push((kind, file, node, recorded));
                }
                recorded
            }
            _ => number,
        }
    }

    /// Records a reshape with an inferred size after the first one.
    ///
    /// If the first size is constant, such a reshape mixes samples or fails at another batch size.
    pub fn note_reshape(&mut self, x: &Tensor<'t>, sizes: &[Dim], node: Node<'t>) {
        let file = self.file();
        let Some(record) = &mut self.record else { return };
        let first = Arguments::of(node, &self.files[file].text).positional.first().copied();
        let is_literal = first.is_some_and(|first| {
            let items = if matches!(first.kind(), "tuple" | "list") { children(first) } else { vec![first] };
            items.first().is_some_and(|item| item.kind() == "integer")
        });
        if sizes.iter().skip(1).any(|size| *size == Some(-1)) {
            let rows = x.dim(0);
            record.reshapes.push(Reshape { file, node, is_literal, rows, first: sizes[0] });
        }
    }

    /// Runs a model with other sizes than the example, and reports sizes that the export makes constant.
    pub fn run_other_sizes(
        &mut self,
        model: &Value<'t>,
        call: &ExportCall<'t>,
        values: &[Value<'t>],
        args: &Args<'t>,
    ) {
        let mut loops = std::mem::take(&mut self.loops);
        let axes = self.requested_axes(model, call, values);
        let lines = |loops: Vec<(usize, Node<'t>)>| -> Vec<(usize, u32)> {
            loops.into_iter().map(|(file, node)| (file, line(node))).collect()
        };
        // `input_names` also has a name for each tensor in a list, so that names and arguments cannot be matched.
        let is_nested = values.iter().any(|value| !matches!(value, Value::Tensor(_)) && !value.is_plain())
            || values.iter().any(|value| matches!(value, Value::Tuple(_)));
        if self.exhausted || is_nested || call.exporter != "torch.onnx.export" {
            self.varying.extend(lines(loops));
            return;
        }
        if axes.iter().all(Vec::is_empty) {
            self.steady.extend(lines(loops));
            return;
        }
        let is_traced = call.arguments.iter().any(|argument| {
            argument.name.as_deref() == Some("dynamo") && argument.value == Value::Bool(false)
        });
        self.record = Some(Record::default());
        if self.quiet_run(model, values.to_vec(), args).is_err() {
            self.record = None;
            return;
        }
        let record = self.record.take().unwrap_or_default();
        let mut failures = vec![];
        let mut tried = 0;
        let mut varying = vec![];
        for smaller in [false, true] {
            let Some(changed) = resized(values, &axes, smaller) else { continue };
            tried += 1;
            self.record = Some(Record::default());
            let natural = self.quiet_run(model, changed.clone(), args);
            let seen = self.record.take().unwrap_or_default();
            match natural {
                Err(Stop::Exhausted) => return,
                Err(Stop::Raised(raised)) => failures.extend(raised.finding.map(|finding| (finding, seen))),
                Ok(natural) if is_traced => {
                    let numbers = record.numbers.clone();
                    self.record = Some(Record { numbers, at: Some(0), ..Record::default() });
                    let replayed = self.quiet_run(model, changed, args);
                    let replay = self.record.take().unwrap_or_default();
                    let differing =
                        |node: &Node<'t>| replay.differing.iter().any(|(_, _, other, _)| other == node);
                    varying.extend(loops.iter().filter(|(_, node)| differing(node)).copied());
                    let differs = match &replayed {
                        Ok(replayed) => self.shapes_differ(&natural, replayed),
                        Err(Stop::Raised(_)) => true,
                        Err(Stop::Exhausted) => return,
                    };
                    self.report_taken(&replay, differs);
                }
                Ok(_) => {}
            }
        }
        if is_traced && failures.is_empty() {
            loops.retain(|one| !varying.contains(one));
            self.steady.extend(lines(loops));
            self.varying.extend(lines(varying));
        } else {
            self.varying.extend(lines(loops));
        }
        // If only one of two sizes fails, it may be too large or too small; if all fail, the size is fixed.
        if tried == failures.len()
            && let Some((finding, seen)) = failures.into_iter().next()
        {
            let fixed = seen.reshapes.iter().rev().find(|one| one.is_fixed(&record.reshapes));
            self.report_fixed(finding, fixed.map(|one| (one.file, one.node)));
        }
    }

    /// Returns the items over which a loop iterates.
    ///
    /// A replay cuts the list of items or, for a `range`, extends it to the number of items in the run on the
    /// example.
    pub fn taken_items(&mut self, items: Vec<Value<'t>>, of: &Value<'t>, node: Node<'t>) -> Vec<Value<'t>> {
        let mut items = items;
        let count = i64::try_from(items.len()).unwrap_or(0);
        let turns = usize::try_from(self.taken(Taken::Turns, node, count)).unwrap_or(0);
        items.truncate(turns);
        if let Value::Range(start, _, step) = of {
            let more = (count..).take(turns.saturating_sub(items.len()));
            items.extend(more.map(|at| Value::Int(start + at * step)));
        }
        items
    }

    /// Runs a model without effects and findings.
    fn quiet_run(&mut self, model: &Value<'t>, values: Vec<Value<'t>>, args: &Args<'t>) -> Eval<'t> {
        let before = self.heap.snapshot();
        self.quiet += 1;
        let depth = self.frames.len();
        let result = self.invoke(model, &Args::of(args.node, values));
        self.frames.truncate(depth);
        self.quiet -= 1;
        let _ = self.heap.restore(&before);
        result
    }

    fn shapes_differ(&self, a: &Value<'t>, b: &Value<'t>) -> bool {
        let differ =
            |a: &Shape, b: &Shape| a.as_ref().zip(b.as_ref()).is_some_and(|(a, b)| tensor::differ(a, b));
        match (a, b) {
            (Value::Tensor(a), Value::Tensor(b)) => differ(&a.shape, &b.shape),
            (Value::Str(_), _) | (_, Value::Str(_)) => false,
            _ => match (self.items(a), self.items(b)) {
                (Some(a), Some(b)) => {
                    a.len() != b.len() || a.iter().zip(&b).any(|(a, b)| self.shapes_differ(a, b))
                }
                _ => false,
            },
        }
    }

    /// Reports numbers that are constants in a traced graph although their axis is dynamic.
    fn report_taken(&mut self, replay: &Record<'t>, differs: bool) {
        for (kind, file, node, number) in &replay.differing {
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
                Taken::Number => (
                    rule_ids::BAKED_SHAPE,
                    format!(
                        "`{}` fixes {number}, a size of the example, but the axis is dynamic",
                        one_line(*node, self.source(*file))
                    ),
                    "compute with the sizes themselves: without `int` and `len`, and with `//` instead of `/`",
                ),
            };
            let level = if differs || *kind == Taken::Length { Level::Error } else { Level::Warning };
            let place = Place::Source(self.place(*file, *node));
            let finding = rule.at(level).finding(message, place);
            let note = "the tracing exporter records Python numbers as constants";
            if *file == 0 {
                self.tell([finding.note(note).help(help)]);
            }
        }
    }

    /// Reports a model that fails at other sizes of its dynamic axes.
    fn report_fixed(&mut self, failure: Finding, reshape: Option<(usize, Node<'t>)>) {
        let failed = failure.source.clone();
        let reshape = reshape.filter(|(file, _)| *file == 0);
        let (place, what) = match reshape {
            Some((file, node)) => (Some(self.place(file, node)), one_line(node, self.source(file))),
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
        finding = finding
            .note(format!("at another size, {}", failure.message))
            .help("take sizes from the tensor: `x.shape[0]`, `x.flatten(1)`, `-1` for one axis");
        if let Some(failed) = failed.filter(|failed| failed.line != place.line) {
            finding = finding.related(Place::Source(failed), "fails here");
        }
        self.tell([finding]);
    }

    /// Returns, for each positional example, the axes that a call declares dynamic, with their names.
    fn requested_axes(
        &mut self,
        model: &Value<'t>,
        call: &ExportCall<'t>,
        values: &[Value<'t>],
    ) -> Vec<Vec<(i64, Value<'t>)>> {
        let count = values.len();
        let argument = |name: &str| {
            let named = call.arguments.iter().find(|argument| argument.name.as_deref() == Some(name));
            named.map(|argument| argument.value.clone())
        };
        let mut found = vec![vec![]; count];
        if let Some(axes) = argument("dynamic_axes") {
            let names = argument("input_names").and_then(|names| self.items(&names)).unwrap_or_default();
            // `input_names` has no names for arguments that are `None`.
            let inputs: Vec<usize> = (0..count).filter(|at| values[*at] != Value::None).collect();
            for (name, axes) in self.entries(&axes).unwrap_or_default() {
                let at = names.iter().position(|known| *known == name);
                if let Some(at) = at.and_then(|at| inputs.get(at)) {
                    found[*at] = self.axis_list(&axes);
                }
            }
        }
        let Some(shapes) = argument("dynamic_shapes") else { return found };
        let parameters = self.forward_parameters(model).unwrap_or_default();
        match self.entries(&shapes) {
            Some(entries) => {
                for (name, axes) in entries {
                    let at = parameters.iter().position(|parameter| name.text() == Some(parameter.name));
                    if let Some(at) = at.filter(|at| *at < count) {
                        found[at] = self.axis_list(&axes);
                    }
                }
            }
            None => {
                for (at, axes) in self.items(&shapes).unwrap_or_default().iter().enumerate().take(count) {
                    found[at] = self.axis_list(axes);
                }
            }
        }
        found
    }

    /// Returns the axes of an entry, which is a dictionary, a list of numbers, or a list of names.
    fn axis_list(&self, axes: &Value<'t>) -> Vec<(i64, Value<'t>)> {
        if let Some(entries) = self.entries(axes) {
            let given = entries.into_iter().filter(|(_, name)| is_dynamic(name));
            return given.filter_map(|(axis, name)| Some((axis.int()?, name))).collect();
        }
        let items = self.items(axes).unwrap_or_default();
        if items.iter().all(|item| matches!(item, Value::Int(_))) {
            // Listed axes are dynamic, without a name.
            return items.iter().filter_map(|axis| Some((axis.int()?, Value::Unknown))).collect();
        }
        (0i64..).zip(items).filter(|(_, name)| is_dynamic(name)).collect()
    }
}

/// Returns true if an entry of `dynamic_shapes` makes an axis dynamic for certain.
fn is_dynamic(dim: &Value) -> bool {
    match dim {
        Value::None | Value::Int(_) | Value::Unknown => false,
        Value::Name(path) => path.ends_with(".DYNAMIC"),
        _ => true,
    }
}

/// Returns examples with changed sizes of dynamic axes, or `None` if no dynamic axis has a known size.
fn resized<'t>(
    values: &[Value<'t>],
    axes: &[Vec<(i64, Value<'t>)>],
    smaller: bool,
) -> Option<Vec<Value<'t>>> {
    let mut changed = values.to_vec();
    let mut any = false;
    // An axis that has the same name as the first axis of an input is resized like a batch, too.
    let batches: Vec<&Value<'t>> = axes
        .iter()
        .flatten()
        .filter(|(axis, name)| *axis == 0 && matches!(name, Value::Str(_) | Value::Object(_)))
        .map(|(_, name)| name)
        .collect();
    for (value, axes) in changed.iter_mut().zip(axes) {
        let Value::Tensor(tensor) = value else { continue };
        let Some(mut shape) = tensor.shape.clone() else { continue };
        for (axis, name) in axes {
            let size = usize::try_from(*axis).ok().and_then(|axis| shape.get_mut(axis));
            let Some(Some(size)) = size else { continue };
            // The batch may have any size. Strides and windows often require multiples of a number, so
            // other axes are doubled or halved (odd sizes: reduced by 1).
            *size = match (*axis == 0 || batches.contains(&name), smaller) {
                (true, false) => *size + 1,
                (true, true) => *size + 2,
                (_, false) => *size * 2,
                (_, true) if *size % 2 == 0 => *size / 2,
                (_, true) if *size > 1 => *size - 1,
                _ => *size,
            };
            any = true;
        }
        let shape = Some(shape);
        *value = Value::Tensor(Rc::new(Tensor { shape, data: None, ..(**tensor).clone() }));
    }
    any.then_some(changed)
}
