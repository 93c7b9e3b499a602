//! `dynamic_axes`: unknown keys, axes that tensors do not have, and the order of the keys.

use tree_sitter::Node;

use crate::diag::Level;
use crate::diag::counted;
use crate::diag::rule_ids::{ARGUMENT_TYPE, AXIS_ORDER, AXIS_OUT_OF_RANGE, NAME_COUNT, UNKNOWN_AXIS_NAME};

use super::super::super::report::Piece;
use super::super::torch::DIM;
use super::super::value::Value;
use super::check::{Check, Words};
use super::request::Exporter;
use super::{dictionary_key, listed};

/// An entry of `dynamic_axes` with a string as its key.
struct Entry<'t> {
    name: String,
    axes: Value<'t>,
    /// Expression of the key, or of the whole argument.
    node: Node<'t>,
}

impl<'t> Check<'_, '_, 't> {
    /// Checks `dynamic_axes`.
    pub fn dynamic_axes(&mut self) {
        let request = self.request;
        if request.function != "torch.onnx.export" || request.given("dynamic_shapes").is_some() {
            return;
        }
        let Some(given) = request.given("dynamic_axes") else { return };
        let argument = request.node("dynamic_axes");
        let Some(entries) = self.machine.entries(given) else {
            if matches!(given, Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Tuple(_))
                || self.machine.items(given).is_some_and(|items| !items.is_empty())
            {
                self.say_raised(
                    Words::new(ARGUMENT_TYPE, argument, "`dynamic_axes` is not a dictionary")
                        .note("the exporter raises")
                        .help("map names to axes, as in `{\"input\": {0: \"batch\"}}`"),
                );
            }
            return;
        };
        let entries = entries.into_iter().map(|(name, axes)| {
            let name = name.text()?.to_owned();
            Some(Entry {
                node: dictionary_key(argument, &name, self.source()).unwrap_or(argument),
                name,
                axes,
            })
        });
        let Some(entries) = entries.collect::<Option<Vec<Entry>>>() else { return };
        for entry in &entries {
            self.axes_form(entry);
        }
        match request.exporter {
            Exporter::Tracing => self.traced_axes(&entries),
            Exporter::Dynamo => self.positional_axes(&entries),
            _ => {}
        }
    }

    /// Returns the names in `input_names` or `output_names`.
    ///
    /// Returns `None` if the names are not known. An omitted argument has no names.
    pub fn names(&self, argument: &str) -> Option<Vec<String>> {
        match self.request.value(argument) {
            None | Some(Value::None) => self.request.call.is_complete.then(Vec::new),
            // A string instead of a list is reported by `types`.
            Some(Value::Str(_)) => None,
            Some(names) => {
                let items = self.machine.items(names)?;
                items.iter().map(|name| name.text().map(str::to_owned)).collect()
            }
        }
    }

    /// Checks the type of the axes of an entry.
    fn axes_form(&mut self, entry: &Entry<'t>) {
        let of = &entry.name;
        let wrong = match &entry.axes {
            Value::Tuple(_) => Some("a tuple"),
            Value::Int(_) => Some("an integer"),
            Value::Str(_) => Some("a string"),
            _ => None,
        };
        if let Some(wrong) = wrong {
            self.say_raised(
                Words::new(AXIS_OUT_OF_RANGE, entry.node, format!("the axes of `{of}` are {wrong}"))
                    .note("the exporter accepts a dictionary or a list, and raises for other types")
                    .help("write `{0: \"batch\"}`, or a list of axes `[0]`"),
            );
            return;
        }
        let names = self.machine.entries(&entry.axes).unwrap_or_default();
        let is_name = |name: &Value<'t>| matches!(name, Value::Str(_) | Value::Unknown);
        if self.request.exporter == Exporter::Tracing
            && let Some((_, name)) = names.iter().find(|(_, name)| !is_name(name))
        {
            let is_dim = self.machine.library_class(name).as_deref() == Some(DIM);
            let what = if is_dim { "a `Dim`" } else { "no string" };
            self.say_raised(
                Words::new(ARGUMENT_TYPE, entry.node, format!("the name of an axis of `{of}` is {what}"))
                    .note("the tracing exporter requires strings, and raises a TypeError")
                    .help("write the name as a string: `{0: \"batch\"}`"),
            );
            return;
        }
        let keys = self.axis_keys(&entry.axes);
        if let Some(Value::Str(key)) = keys.iter().find(|key| matches!(key, Value::Str(_))) {
            let node = super::inner_key(entry.node, key, self.source());
            let piece = node
                .filter(|_| key.parse::<u32>().is_ok())
                .and_then(|node| Piece::instead(node, key, crate::diag::Applicability::Safe, self.source()));
            self.say_raised(
                Words::new(
                    AXIS_OUT_OF_RANGE,
                    node.unwrap_or(entry.node),
                    format!("the axis `\"{key}\"` of `{of}` is a string, not an integer"),
                )
                .note("the exporter raises")
                .help("write axes as integers: `{0: \"batch\"}`")
                .rewrite(piece),
            );
        }
    }

    /// Returns the axes of an entry, as written.
    fn axis_keys(&self, axes: &Value<'t>) -> Vec<Value<'t>> {
        match self.machine.entries(axes) {
            Some(entries) => entries.into_iter().map(|(key, _)| key).collect(),
            None => self.machine.items(axes).unwrap_or_default(),
        }
    }

    fn axis_numbers(&self, axes: &Value<'t>) -> Vec<i64> {
        self.axis_keys(axes).iter().filter_map(Value::int).collect()
    }

    /// Checks the keys and axes for the tracing exporter, which matches by name.
    fn traced_axes(&mut self, entries: &[Entry<'t>]) {
        let (Some(inputs), Some(outputs)) = (self.names("input_names"), self.names("output_names")) else {
            return;
        };
        let tensors = self.request.tensors(self.machine);
        for entry in entries {
            let place = inputs.iter().position(|name| *name == entry.name);
            if place.is_none() && !outputs.contains(&entry.name) {
                self.unknown_traced(entry, entries, (&inputs, &outputs), tensors.as_ref().map(Vec::len));
                continue;
            }
            let Some(place) = place else { continue };
            let tensor = tensors.as_ref().and_then(|tensors| tensors.get(place)?.tensor());
            let Some(rank) = tensor.and_then(super::super::tensor::Tensor::rank) else { continue };
            self.axes_in_range(entry, rank, true);
        }
    }

    fn unknown_traced(
        &mut self,
        entry: &Entry<'t>,
        entries: &[Entry<'t>],
        (inputs, outputs): (&[String], &[String]),
        count: Option<usize>,
    ) {
        // Without `input_names`, an internal name may match.
        let may_match = inputs.is_empty() && (entry.name == "input" || entry.name.contains([':', '.']));
        if may_match || entry.name.parse::<u32>().is_ok() {
            return;
        }
        let named = |name: &String| entries.iter().any(|entry| entry.name == *name);
        let inputs = &inputs[..inputs.len().min(count.unwrap_or(inputs.len()))];
        let open_input = inputs.iter().find(|name| !named(name));
        let is_about_input = open_input.is_some() || inputs.is_empty();
        let unnamed: Vec<&String> = inputs.iter().chain(outputs).filter(|name| !named(name)).collect();
        let similar = match unnamed.as_slice() {
            [only] => Some(*only),
            several => several.iter().copied().find(|name| super::is_near(name, &entry.name)),
        };
        let (note, level) = if is_about_input && !self.axis_numbers(&entry.axes).is_empty() {
            (
                "the exporter ignores the key with a warning: these axes keep the sizes of the example",
                Level::Error,
            )
        } else {
            ("the exporter ignores the key with a warning", Level::Warning)
        };
        let help = match similar {
            Some(name) => format!("write `\"{name}\"`"),
            None if inputs.is_empty() => {
                "pass `input_names` and `output_names`, and use these names as keys".to_owned()
            }
            None => format!("use a name of {}", listed(&[inputs, outputs].concat())),
        };
        let rewrite = similar.filter(|_| entry.node.kind() == "string").and_then(|name| {
            let by = format!("\"{name}\"");
            Piece::instead(entry.node, &by, crate::diag::Applicability::Unsafe, self.source())
        });
        let message = if inputs.is_empty() && outputs.is_empty() {
            format!("`dynamic_axes` has the key `{}`, but no input or output has a name", entry.name)
        } else {
            format!("`dynamic_axes` has the key `{}`, which is no name of an input or output", entry.name)
        };
        self.say(
            Words::new(UNKNOWN_AXIS_NAME, entry.node, message)
                .at(level)
                .note(note)
                .help(help)
                .rewrite(rewrite),
        );
    }

    /// Checks that a tensor of some rank has the axes of an entry.
    fn axes_in_range(&mut self, entry: &Entry<'t>, rank: usize, is_input: bool) {
        for axis in self.axis_numbers(&entry.axes) {
            let last = i64::try_from(rank).unwrap_or(i64::MAX) - 1;
            if (0..=last).contains(&axis) {
                continue;
            }
            let name = &entry.name;
            let node = super::inner_key(entry.node, &axis.to_string(), self.source()).unwrap_or(entry.node);
            let positive = axis + last + 1;
            if axis < 0 && (0..=last).contains(&positive) {
                let source = self.source();
                let by = positive.to_string();
                let piece = Piece::instead(node, &by, crate::diag::Applicability::Safe, source)
                    .filter(|_| node != entry.node);
                let words = Words::new(
                    AXIS_OUT_OF_RANGE,
                    node,
                    format!("the axis {axis} of `{name}` is negative, which `dynamic_axes` does not support"),
                );
                self.say(
                    words
                        .at(if is_input { Level::Error } else { Level::Info })
                        .note("the exporter ignores the axis, crashes or raises, depending on the layer")
                        .help(format!("write {positive}"))
                        .rewrite(piece),
                );
                continue;
            }
            let words = Words::new(
                AXIS_OUT_OF_RANGE,
                node,
                format!("`dynamic_axes` names axis {axis} of `{name}`, which has rank {rank}"),
            )
            .help(match last {
                -1 => "remove the entry: a 0-d tensor has no axes".to_owned(),
                _ => format!("use axes from 0 to {last}"),
            });
            if is_input {
                self.say_raised(words.note("the exporter raises"));
            } else {
                self.say(
                    words.at(Level::Info).note("the exporter ignores an axis that an output does not have"),
                );
            }
        }
    }

    /// Checks the axes of outputs, whose values are known after the model ran.
    pub fn output_axes(&mut self, outputs: &[Value<'t>]) {
        if self.request.exporter != Exporter::Tracing {
            return;
        }
        let (Some(given), Some(names)) = (self.request.given("dynamic_axes"), self.names("output_names"))
        else {
            return;
        };
        let argument = self.request.node("dynamic_axes");
        for (key, axes) in self.machine.entries(given).unwrap_or_default() {
            let Some(name) = key.text().map(str::to_owned) else { continue };
            let place = names.iter().position(|known| *known == name);
            let tensor = place.and_then(|place| outputs.get(place)).and_then(Value::tensor);
            let Some(rank) = tensor.and_then(super::super::tensor::Tensor::rank) else { continue };
            let node = dictionary_key(argument, &name, self.source()).unwrap_or(argument);
            self.axes_in_range(&Entry { name, axes, node }, rank, false);
        }
    }

    /// Checks the keys and axes for `dynamo=True`, which matches them with the inputs by position.
    fn positional_axes(&mut self, entries: &[Entry<'t>]) {
        let request = self.request;
        let (Some(inputs), Some(outputs)) = (self.names("input_names"), self.names("output_names")) else {
            return;
        };
        let argument = request.node("dynamic_axes");
        let own: Vec<&Entry> = entries.iter().filter(|entry| !outputs.contains(&entry.name)).collect();
        let own_names = own.iter().map(|entry| entry.name.clone());
        let rest = inputs.iter().filter(|name| !own.iter().any(|entry| entry.name == **name)).cloned();
        let order: Vec<String> = own_names.chain(rest).collect();
        let Some(leaves) = self.leaves() else { return };
        let parameters = request.model().and_then(|model| self.machine.forward_parameters(&model.clone()));
        let parameters: Vec<String> =
            parameters.unwrap_or_default().iter().map(|parameter| parameter.name.to_owned()).collect();
        if order.len() != leaves.len() {
            let strange = own.iter().find(|entry| {
                !inputs.contains(&entry.name) && (!inputs.is_empty() || !parameters.contains(&entry.name))
            });
            let words = match strange {
                Some(entry) if order.len() > leaves.len() => Words::new(
                    UNKNOWN_AXIS_NAME,
                    entry.node,
                    format!(
                        "`dynamic_axes` has the key `{}`, which is no name of an input or output",
                        entry.name
                    ),
                )
                .help("use the name of an input, and list outputs in `output_names`"),
                _ => Words::new(
                    NAME_COUNT,
                    argument,
                    format!(
                        "`dynamic_axes` and `input_names` describe {}, but the example has {}",
                        counted(order.len(), "input"),
                        leaves.len()
                    ),
                )
                .help("name all inputs in `input_names`, or pass `dynamic_shapes`"),
            };
            self.say_raised(words.note(
                "with `dynamo=True`, the keys are matched with the inputs by position, and the call raises",
            ));
            return;
        }
        let places = if inputs.is_empty() { &parameters } else { &inputs };
        let wrong = own.iter().enumerate().find(|(at, entry)| {
            places.iter().position(|name| *name == entry.name).is_some_and(|place| {
                let other = own.iter().find(|other| places.get(*at) == Some(&other.name));
                let same = other
                    .is_some_and(|other| self.axis_numbers(&other.axes) == self.axis_numbers(&entry.axes));
                place != *at && !same
            })
        });
        if let Some((at, entry)) = wrong {
            let (name, place) = (&entry.name, places.get(at).cloned().unwrap_or_default());
            self.say(
                Words::new(
                    AXIS_ORDER,
                    entry.node,
                    format!("the axes of `{name}` apply to `{place}`: `dynamic_axes` has another order than the inputs"),
                )
                .note("with `dynamo=True`, the keys are matched with the inputs by position, not by name")
                .help("order the keys like the inputs, or pass `dynamic_shapes`"),
            );
            return;
        }
        for (entry, leaf) in own.iter().zip(&leaves) {
            if let Some(rank) = leaf.tensor().and_then(super::super::tensor::Tensor::rank) {
                self.axes_in_range(entry, rank, true);
            }
        }
    }

    /// Returns the examples in the order of the inputs of a program, including Python values.
    ///
    /// Returns `None` if an example is unknown, is passed by name, or is a structure of tensors.
    fn leaves(&self) -> Option<Vec<Value<'t>>> {
        let inputs = self.request.inputs.as_ref()?;
        let is_simple = |value: &Value| {
            matches!(
                value,
                Value::Tensor(_)
                    | Value::Int(_)
                    | Value::Float(_)
                    | Value::Bool(_)
                    | Value::None
                    | Value::Str(_)
            )
        };
        let is_positional = inputs.iter().all(|input| input.name.is_none());
        if is_positional && inputs.iter().all(|input| is_simple(&input.value)) {
            return Some(inputs.iter().map(|input| input.value.clone()).collect());
        }
        None
    }
}
