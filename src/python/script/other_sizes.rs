//! Runs of a model with other sizes on the axes that a call declares dynamic.
//!
//! A first run, with sizes different from those of the example, computes like PyTorch. A second run is a
//! replay that computes like the traced graph: numbers that Python took from sizes are those of the example.

use tree_sitter::Node;

use super::super::syntax::{Arguments, children, line};
use super::calls::Args;
use super::exporting::{EXPORT_TESTS, ExportCall};
use super::machine::{Eval, Machine, Stop};
use super::record::{Record, Reshape, Taken};
use super::resizing::{Resizing, resized};
use super::tensor::{self, Dim, Shape, Tensor};
use super::value::Value;

impl<'t> Machine<'t> {
    /// Returns the number that Python takes at `node`; a replay returns the number recorded there.
    pub fn taken(&mut self, kind: Taken, node: Node<'t>, number: i64) -> i64 {
        if self.scripted > 0 {
            return number;
        }
        let file = self.file();
        let is_branch = kind == Taken::Branch;
        if kind == Taken::Turns && !self.examples.is_empty() && self.quiet == 0 {
            self.loops.push((file, node));
        }
        let Some(record) = &mut self.record else { return number };
        record.has_branches |= is_branch;
        let Some(at) = record.at else {
            record.numbers.push((file, node.id(), number));
            return number;
        };
        match record.numbers.get(at) {
            Some((known_file, known, recorded)) if (*known_file, *known) == (file, node.id()) => {
                let recorded = *recorded;
                record.at = Some(at + 1);
                // A `for` loop keeps the order of the numbers until its end.
                let is_for = kind == Taken::Turns && node.kind() == "for_statement";
                record.is_lost |= recorded != number && (kind == Taken::Turns && !is_for || is_branch);
                if recorded != number {
                    record.differing.push((kind, file, node, recorded));
                }
                recorded
            }
            _ => number,
        }
    }

    /// Returns the float that Python takes at `node`; a replay returns the float recorded there.
    pub fn taken_float(&mut self, node: Node<'t>, number: f64) -> f64 {
        f64::from_bits(self.taken(Taken::Float, node, number.to_bits().cast_signed()).cast_unsigned())
    }

    /// Returns the sizes of an array that NumPy creates; a replay returns those of the run on the example.
    pub fn fixed_sizes(&mut self, sizes: Vec<Dim>, node: Node<'t>) -> Vec<Dim> {
        sizes.into_iter().map(|size| size.map(|size| self.taken(Taken::Number, node, size))).collect()
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
        let is_export = matches!(&*call.exporter, "torch.onnx.export" | "torch.export.export");
        if self.exhausted || is_nested || !is_export || !self.has_free_axes(call) {
            self.varying.extend(lines(loops));
            return;
        }
        if axes.iter().all(Vec::is_empty) {
            self.steady.extend(lines(loops));
            return;
        }
        let is_traced = call.named("dynamo").is_some_and(|dynamo| dynamo.value == Value::Bool(false));
        self.record = Some(Record::default());
        let budget = self.steps_left();
        if self.quiet_run(model, values.to_vec(), args).is_err() {
            self.record = None;
            return;
        }
        let cost = budget - self.steps_left();
        let record = self.record.take().unwrap_or_default();
        // Sizes of several inputs may depend on each other, such as those of a mask.
        let is_single = is_single_size(values, &axes);
        let mut failures = vec![];
        let mut tried = 0;
        let mut varying = vec![];
        for resizing in [Resizing::Larger, Resizing::Smaller, Resizing::Odd, Resizing::Huge, Resizing::Tiny] {
            // Extreme sizes matter only for branches, such as `if n % 2 == 1` and `min(n, 100)`.
            let is_extreme = resizing.is_extreme();
            let effort = match resizing {
                Resizing::Huge => 64,
                Resizing::Tiny => 16,
                _ => 4,
            };
            if is_extreme
                && !(is_traced && is_single && record.has_branches && self.steps_left() / effort > cost)
            {
                continue;
            }
            let Some(changed) = resized(values, &axes, resizing) else { continue };
            tried += usize::from(!is_extreme);
            self.record = Some(Record::default());
            let natural = self.quiet_run(model, changed.clone(), args);
            let seen = self.record.take().unwrap_or_default();
            match natural {
                Err(Stop::Exhausted) => return,
                Err(Stop::Raised(_)) if is_extreme => {}
                Err(Stop::Raised(raised)) => failures.extend(raised.finding.map(|finding| (finding, seen))),
                Ok(natural) if is_traced => {
                    let numbers = record.numbers.clone();
                    let operands = seen.operands.clone();
                    self.record =
                        Some(Record { numbers, at: Some(0), natural: operands, ..Record::default() });
                    let replayed = self.quiet_run(model, changed.clone(), args);
                    let replay = self.record.take().unwrap_or_default();
                    self.report_constants(&record, &replay);
                    let differing =
                        |node: &Node<'t>| replay.differing.iter().any(|(_, _, other, _)| other == node);
                    varying.extend(loops.iter().filter(|(_, node)| differing(node)).copied());
                    let differs = match &replayed {
                        Ok(replayed) => self.shapes_differ(&natural, replayed),
                        Err(Stop::Raised(_)) => true,
                        Err(Stop::Exhausted) => return,
                    };
                    let failure = match &replayed {
                        Err(Stop::Raised(raised)) => {
                            raised.finding.as_ref().map(|finding| finding.message.clone())
                        }
                        _ => None,
                    };
                    if !matches!(resizing, Resizing::Huge | Resizing::Tiny) {
                        let deviates = replayed.is_ok_and(|replayed| self.deviates(&replayed))
                            && !self.mentions(&EXPORT_TESTS);
                        let culprits = match deviates {
                            true => self.culprits(model, &changed, args, (&record, &seen, &replay)),
                            false => vec![],
                        };
                        self.report_taken(&replay, differs, &culprits);
                    }
                    if is_single {
                        self.report_branch(&replay, differs, failure);
                    }
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
            let needed = self.undeclared_axes(model, values, &axes, args);
            if let Some(finding) = self.undeclared_finding(model, call, values, &needed, &finding) {
                self.tell([finding]);
                return;
            }
            let fixed = seen.reshapes.iter().rev().find(|one| one.is_fixed(&record.reshapes));
            let fixed = fixed.map(|one| (one.file, one.node)).filter(|(file, _)| *file == 0);
            let batches: Vec<i64> = values
                .iter()
                .zip(&axes)
                .filter(|(_, axes)| axes.iter().any(|(axis, _)| *axis == 0))
                .filter_map(|(value, _)| value.tensor()?.dim(0))
                .collect();
            let origin = self.batch_origin(&batches, &record.sizes, &seen.sizes, &finding);
            let stale = seen.stale.iter().rev().find(|(file, _)| *file == 0).copied();
            self.report_fixed(finding, fixed.or(origin).or(stale));
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
    pub fn quiet_run(&mut self, model: &Value<'t>, values: Vec<Value<'t>>, args: &Args<'t>) -> Eval<'t> {
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
}

/// Returns true if the dynamic axes, besides the first ones, have one name and one size.
///
/// Axes with other names and sizes may depend on each other, such as those of a mask.
fn is_single_size(values: &[Value], axes: &[Vec<(i64, Value)>]) -> bool {
    let others: Vec<Vec<(&Value, Option<i64>)>> = values
        .iter()
        .zip(axes)
        .map(|(value, axes)| {
            let others = axes.iter().filter(|(axis, _)| *axis != 0);
            others.map(|(axis, name)| (name, value.tensor().and_then(|tensor| tensor.dim(*axis)))).collect()
        })
        .collect();
    let mut all = others.iter().flatten();
    let Some(first) = all.next() else { return true };
    let has_name = matches!(first.0, Value::Str(_) | Value::Object(_)) && first.1.is_some();
    others.iter().filter(|others| !others.is_empty()).count() <= 1
        || has_name && all.all(|other| other == first)
}
