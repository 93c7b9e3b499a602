//! `dynamic_shapes`: its structure, the axes that it names, and the ranges of its dimensions.

use tree_sitter::Node;

use crate::diag::Level;
use crate::diag::rule_ids::{
    AXIS_OUT_OF_RANGE, DIM_RANGE, EXAMPLE_SIZE_ONE, NAME_COUNT, STATIC_EXPORT, UNKNOWN_AXIS_NAME,
};

use super::super::binding::ParameterKind;
use super::super::tensor::Tensor;
use super::super::torch::DIM;
use super::super::value::{Ref, Value};
use super::check::{Check, Words};
use super::request::{Exporter, Input};
use super::{dictionary_key, listed};

/// The size of each `Dim` in the example, by the object of the `Dim`.
type Seen = Vec<(Ref, i64)>;

impl<'t> Check<'_, '_, 't> {
    /// Checks `dynamic_shapes`.
    pub fn dynamic_shapes(&mut self) {
        let request = self.request;
        if !matches!(request.exporter, Exporter::Dynamo | Exporter::Program) {
            return;
        }
        let Some(shapes) = request.given("dynamic_shapes").cloned() else { return };
        let Some(model) = request.model().cloned() else { return };
        if self.machine.library_class(&model).as_deref() == Some("torch.export.ExportedProgram") {
            self.shapes_of_program(&model, &shapes);
            return;
        }
        let Some(inputs) = request.inputs.clone() else { return };
        let argument = request.node("dynamic_shapes");
        if let Some(entries) = self.machine.entries(&shapes) {
            let Some(keys) =
                entries.iter().map(|(key, _)| Some(key.text()?.to_owned())).collect::<Option<Vec<_>>>()
            else {
                return;
            };
            self.named_shapes(&model, &inputs, &keys, &entries, argument);
        } else if let Some(items) = self.machine.items(&shapes) {
            self.listed_shapes(&inputs, &items, argument);
        }
    }

    /// Checks `dynamic_shapes` as a dictionary, whose keys are the parameters of `forward`.
    fn named_shapes(
        &mut self,
        model: &Value<'t>,
        inputs: &[Input<'t>],
        keys: &[String],
        entries: &[(Value<'t>, Value<'t>)],
        argument: Node<'t>,
    ) {
        let Some(parameters) = self.machine.forward_parameters(model) else { return };
        let is_plain = |kind| matches!(kind, ParameterKind::Positional | ParameterKind::KeywordOnly);
        if parameters.iter().any(|parameter| !is_plain(parameter.kind)) {
            return;
        }
        let mut positional = parameters.iter().map(|parameter| parameter.name.to_owned());
        let names: Vec<String> = inputs
            .iter()
            .filter_map(|input| match &input.name {
                Some(name) => Some(name.to_string()),
                None => positional.next(),
            })
            .collect();
        if names.len() != inputs.len() {
            return;
        }
        if let Some(strange) = keys.iter().find(|key| !names.contains(key)) {
            let node = dictionary_key(argument, strange, self.source()).unwrap_or(argument);
            let is_output = self.names("output_names").is_some_and(|outputs| outputs.contains(strange));
            let open: Vec<String> = names.iter().filter(|name| !keys.contains(name)).cloned().collect();
            let help = match open.as_slice() {
                _ if is_output => "remove the key: the shapes of outputs are computed".to_owned(),
                [only] => format!("write `\"{only}\"`, the name in `forward`"),
                _ => format!("use the names of `forward`: {}", listed(&names)),
            };
            let rewrite = match open.as_slice() {
                [only] if node != argument && !is_output => super::super::super::report::Piece::instead(
                    node,
                    &format!("\"{only}\""),
                    crate::diag::Applicability::Unsafe,
                    self.source(),
                ),
                _ => None,
            };
            self.say_raised(
                Words::new(
                    UNKNOWN_AXIS_NAME,
                    node,
                    format!("`dynamic_shapes` has the key `{strange}`, which is no argument of `forward`"),
                )
                .note("the keys are parameters of `forward`, not names of `input_names`; the exporter raises")
                .help(help)
                .rewrite(rewrite),
            );
            return;
        }
        let missing: Vec<String> = names.iter().filter(|name| !keys.contains(name)).cloned().collect();
        if !missing.is_empty() {
            self.say_raised(
                Words::new(
                    NAME_COUNT,
                    argument,
                    format!("`dynamic_shapes` has no entry for {}", listed(&missing)),
                )
                .note("the exporter raises: each argument requires an entry")
                .help(format!("add `\"{}\": None` for a static input", missing[0])),
            );
            return;
        }
        let mut seen = Seen::new();
        for (key, spec) in entries {
            let at = key.text().and_then(|key| names.iter().position(|name| name == key));
            let Some(input) = at.and_then(|at| inputs.get(at)) else { continue };
            let node = key.text().and_then(|key| dictionary_key(argument, key, self.source()));
            self.shape_spec(&input.value, spec, node.unwrap_or(argument), &mut seen);
        }
    }

    /// Checks `dynamic_shapes` as a list or tuple, by position.
    fn listed_shapes(&mut self, inputs: &[Input<'t>], items: &[Value<'t>], argument: Node<'t>) {
        if inputs.len() != items.len() {
            let count = |count: usize, what: &str| {
                if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
            };
            self.say_raised(
                Words::new(
                    NAME_COUNT,
                    argument,
                    format!(
                        "`dynamic_shapes` has {}, but the example has {}",
                        count(items.len(), "entry").replace("entrys", "entries"),
                        count(inputs.len(), "input")
                    ),
                )
                .note("the exporter raises: each input requires an entry")
                .help("add `None` for a static input"),
            );
            return;
        }
        let mut seen = Seen::new();
        for (input, spec) in inputs.iter().zip(items) {
            self.shape_spec(&input.value, spec, argument, &mut seen);
        }
    }

    /// Checks the dynamic axes of an input.
    fn shape_spec(&mut self, input: &Value<'t>, spec: &Value<'t>, node: Node<'t>, seen: &mut Seen) {
        let Some(tensor) = input.tensor().cloned() else { return };
        let Some(shape) = tensor.shape.clone() else { return };
        let axes: Vec<(i64, Value<'t>)> = match self.machine.entries(spec) {
            Some(entries) => {
                let axes = entries.into_iter().map(|(axis, dim)| Some((axis.int()?, dim)));
                let Some(axes) = axes.collect() else { return };
                axes
            }
            None => match self.machine.items(spec) {
                Some(items) if items.len() == shape.len() => (0i64..).zip(items).collect(),
                Some(items) if !items.is_empty() => {
                    self.say_raised(
                        Words::new(
                            AXIS_OUT_OF_RANGE,
                            node,
                            format!(
                                "the entry has length {}, but the input has rank {}",
                                items.len(),
                                shape.len()
                            ),
                        )
                        .note("the exporter raises: a list has an item for each axis")
                        .help("list all axes, with `None` for a static one, or use a dictionary"),
                    );
                    return;
                }
                _ => return,
            },
        };
        for (axis, dim) in axes {
            if !is_dynamic(&dim) && dim.object().is_none() {
                continue;
            }
            self.dynamic_axis(&tensor, &shape, axis, &dim, node, seen);
        }
    }

    fn dynamic_axis(
        &mut self,
        tensor: &Tensor<'t>,
        shape: &[Option<i64>],
        axis: i64,
        dim: &Value<'t>,
        node: Node<'t>,
        seen: &mut Seen,
    ) {
        let rank = i64::try_from(shape.len()).unwrap_or(i64::MAX);
        let is_onnx = self.request.exporter == Exporter::Dynamo;
        if axis >= rank || axis < -rank {
            self.say_raised(
                Words::new(
                    AXIS_OUT_OF_RANGE,
                    node,
                    format!("`dynamic_shapes` names axis {axis} of an input of rank {rank}"),
                )
                .note("the exporter raises, or ignores the axis")
                .help(match rank {
                    0 => "remove the axis: a 0-d tensor has no axes".to_owned(),
                    _ => format!("use axes from 0 to {}", rank - 1),
                }),
            );
            return;
        }
        if axis < 0 && is_onnx {
            self.say(
                Words::new(
                    AXIS_OUT_OF_RANGE,
                    node,
                    format!("`dynamic_shapes` names the negative axis {axis}"),
                )
                .note("the exporter ignores the axis, which keeps the size of the example")
                .help(format!("write {}", axis + rank)),
            );
            return;
        }
        let place = usize::try_from(if axis < 0 { axis + rank } else { axis }).unwrap_or(0);
        let Some(size) = shape.get(place).copied().flatten() else { return };
        if size <= 1 && !is_onnx {
            self.example_of_size_one(tensor, place, size, dim, node);
            return;
        }
        self.dim_range(size, place, dim, node, seen);
    }

    /// Reports an example of size 0 or 1 on an axis that `torch.export.export` is to keep dynamic.
    fn example_of_size_one(
        &mut self,
        tensor: &Tensor<'t>,
        axis: usize,
        size: i64,
        dim: &Value<'t>,
        node: Node<'t>,
    ) {
        if self.mentions_here(&["backed_size_oblivious"]) {
            return;
        }
        let is_auto = dim.path().is_some_and(|path| path.ends_with(".AUTO"));
        let words = Words::new(
            EXAMPLE_SIZE_ONE,
            node,
            format!("axis {axis} is dynamic, but has size {size} in the example"),
        )
        .help("use an example of size 2 or more on this axis");
        let words = match tensor.origin {
            Some((file, origin)) => words.related(file, origin, "the example"),
            None => words,
        };
        if is_auto {
            let shapes = self.request.given("dynamic_shapes").cloned().unwrap_or_default();
            let (level, note) = match self.dynamic_axes_of(&shapes) {
                1 => (Level::Error, "torch.export makes the sizes 0 and 1 constants: no axis stays dynamic"),
                _ => (
                    Level::Warning,
                    "torch.export makes the sizes 0 and 1 constants: the axis is not dynamic",
                ),
            };
            self.say(words.at(level).note(note));
        } else {
            self.say_raised(words.note("torch.export makes the sizes 0 and 1 constants, and raises"));
        }
    }

    /// Checks that a size of the example fits its `Dim`.
    ///
    /// The size must equal the sizes of other axes with the same `Dim`, too.
    fn dim_range(&mut self, size: i64, axis: usize, dim: &Value<'t>, node: Node<'t>, seen: &mut Seen) {
        if self.machine.library_class(dim).as_deref() != Some(DIM) {
            return;
        }
        // A derived dimension, such as `2 * h + 1`, has a root (`h`), a factor and an offset.
        let part = |name: &str| self.machine.attribute_of(dim, name);
        let whole = |name: &str, default: i64| part(name).and_then(|part| part.int()).unwrap_or(default);
        let (factor, offset) = (whole("factor", 1).max(1), whole("offset", 0));
        let root = part("root").unwrap_or_else(|| dim.clone());
        if (size - offset) % factor != 0 {
            self.say_raised(
                Words::new(
                    DIM_RANGE,
                    node,
                    format!(
                        "axis {axis} has size {size} in the example, but the `Dim` is {factor} * n{}",
                        match offset {
                            0 => String::new(),
                            1.. => format!(" + {offset}"),
                            _ => format!(" - {}", offset.unsigned_abs()),
                        }
                    ),
                )
                .note("the exporter raises a ConstraintViolationError")
                .help("change the factor of the `Dim`, or the example"),
            );
            return;
        }
        let (dim, whole_size, size) = (&root, size, (size - offset) / factor);
        let Some(object) = dim.object() else { return };
        let limit = |name: &str| self.machine.attribute_of(dim, name).and_then(|value| value.int());
        let name = self.machine.attribute_of(dim, "name");
        let name = name.as_ref().and_then(Value::text).unwrap_or("a dimension").to_owned();
        let (min, max) = (limit("min").unwrap_or(0), limit("max").unwrap_or(i64::MAX));
        if size < min || size > max {
            let range =
                if max == i64::MAX { format!("at least {min}") } else { format!("from {min} to {max}") };
            self.say_raised(
                Words::new(
                    DIM_RANGE,
                    node,
                    match size == whole_size {
                        true => format!("axis {axis} has size {size} in the example, but `{name}` is {range}"),
                        false => format!(
                            "axis {axis} has size {whole_size} in the example, so `{name}` is {size}, not {range}"
                        ),
                    },
                )
                .note("the exporter raises a ConstraintViolationError")
                .help("change the range of the `Dim`, or the example"),
            );
            return;
        }
        match seen.iter().find(|(other, _)| *other == object) {
            Some((_, other)) if *other != size => {
                self.say_raised(
                    Words::new(
                        DIM_RANGE,
                        node,
                        format!("`{name}` is both {other} and {size} in the example"),
                    )
                    .note("axes with the same `Dim` must have equal sizes; the exporter raises")
                    .help("use a separate `Dim` for each size, or an example with equal sizes"),
                );
            }
            Some(_) => {}
            None => seen.push((object, size)),
        }
    }

    /// Reports an export without dynamic axes.
    pub fn is_static(&mut self) {
        let request = self.request;
        let given = match request.exporter {
            Exporter::Tracing => ["dynamic_axes"].as_slice(),
            Exporter::Dynamo => &["dynamic_axes", "dynamic_shapes"],
            _ => return,
        };
        let is_empty = |value: &Value<'t>| self.machine.truth(value) == Some(false);
        let is_absent = |name: &&str| {
            request.call.is_complete
                && request.value(name).is_none_or(|value| *value == Value::None || is_empty(value))
        };
        let model = request.model().cloned().unwrap_or_default();
        let is_program =
            self.machine.library_class(&model).as_deref() == Some("torch.export.ExportedProgram");
        if is_program || !given.iter().all(is_absent) || self.raised.is_some() || request.call.is_conditional
        {
            return;
        }
        let help = match request.exporter {
            Exporter::Tracing => {
                "pass `input_names=[\"input\"]` and `dynamic_axes={\"input\": {0: \"batch\"}}` for other batch sizes"
            }
            _ => "pass `dynamic_shapes=({0: \"batch\"},)` for other batch sizes",
        };
        self.say(
            Words::new(STATIC_EXPORT, request.call.node, "all sizes are fixed to those of the example")
                .note("the file has no dynamic axes: it accepts no other batch size")
                .help(help),
        );
    }
}

/// Returns true for a dynamic dimension without a `Dim` object: a name, `Dim.DYNAMIC` or `Dim.AUTO`.
pub fn is_dynamic(dim: &Value) -> bool {
    match dim {
        Value::Str(_) => true,
        Value::Name(path) => path.ends_with(".DYNAMIC") || path.ends_with(".AUTO"),
        _ => false,
    }
}
