//! Initializers that are or must be graph inputs, and defaults with another type than their input.

use super::Detector;
use crate::analyses::LintContext;
use crate::diag::rule_ids::{DEFAULT_OF_ANOTHER_TYPE, INITIALIZER_NOT_INPUT, INPUT_NAMED_WEIGHTS};
use crate::diag::{Applicability, Finding, Place, Sink};
use crate::graph::{DeclaredDim, Def, Initial, Model, Owner, Port, Tensor, TypeKind, ValueId};
use crate::infer::{Fact, Shape};

/// Detector of EXP015, SPC037 and SPC038.
pub const DETECTOR: Detector =
    Detector { rules: &[INITIALIZER_NOT_INPUT, INPUT_NAMED_WEIGHTS, DEFAULT_OF_ANOTHER_TYPE], run };

/// First IR version in which an initializer need not also be a graph input.
const FREE_INITIALIZERS: i64 = 4;

/// Maximum number of names in a message.
const SHOWN: usize = 3;

fn not_input(names: &[&str], ir_version: i64) -> Finding {
    let message = format!(
        "{} not among the graph inputs, but IR version {ir_version} requires every initializer to be an input",
        listed(names)
    );
    INITIALIZER_NOT_INPUT.finding(message, Place::File).help("set `ir_version` to 4 or later")
}

fn weights_as_inputs(names: &[&str], can_move: bool) -> Finding {
    let message = format!("{} of the graph: callers can replace default values", inputs(names));
    let finding = INPUT_NAMED_WEIGHTS
        .finding(message, Place::File)
        .note("a runtime cannot fold, pack or fuse weights that callers can replace")
        .help("export with keep_initializers_as_inputs=False");
    match can_move {
        true => finding.fix(
            Applicability::Unsafe,
            "removes the weights from the inputs, so that callers cannot replace them",
        ),
        false => finding,
    }
}

fn another_type(cx: &LintContext, input: &Port, default: &Tensor) -> Finding {
    let name = cx.name(input.value);
    let is = Fact::tensor(default.elem(), Shape::known(&default.dims));
    let message = format!("the default of input `{name}` is {is}, which differs from the declared type");
    let mut finding = DEFAULT_OF_ANOTHER_TYPE.finding(message, cx.places.declaration(input.value));
    finding.anchor.module = cx.model.values[input.value].name.clone();
    finding.help("declare the input with the type of its default, or remove the default")
}

fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match names.len() {
        1 => format!("initializer {} is", shown[0]),
        count if count <= SHOWN => format!("initializers {} are", shown.join(", ")),
        count => format!("{count} initializers ({}, …) are", shown.join(", ")),
    }
}

fn inputs(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match names.len() {
        1 => format!("weight {} is an input", shown[0]),
        count if count <= SHOWN => format!("weights {} are inputs", shown.join(", ")),
        count => format!("{count} weights ({}, …) are inputs", shown.join(", ")),
    }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let graph = &cx.model.graphs[cx.model.main];
    if graph.owner != Owner::Model {
        return;
    }
    for input in &graph.inputs {
        let default = default(cx.model, input).filter(|default| !fits(input, default));
        sink.extend(default.map(|default| another_type(cx, input, default)));
    }
    let ir_version = cx.model.ir_version.unwrap_or(0);
    let is_input = |value: ValueId| matches!(cx.model.values[value].def, Def::Input(_));
    let own = graph.initializers.iter().copied();
    if (1..FREE_INITIALIZERS).contains(&ir_version) {
        let names: Vec<&str> = own.filter(|&value| !is_input(value)).map(|value| cx.name(value)).collect();
        sink.extend((!names.is_empty()).then(|| not_input(&names, ir_version)));
    } else {
        let names: Vec<&str> = own.filter(|&value| is_input(value)).map(|value| cx.name(value)).collect();
        let can_move = !input_weights(cx.model).is_empty();
        sink.extend((!names.is_empty()).then(|| weights_as_inputs(&names, can_move)));
    }
}

fn default<'m>(model: &'m Model, input: &Port) -> Option<&'m Tensor> {
    match model.values[input.value].initial.as_ref()? {
        Initial::Dense(tensor) => Some(&model.tensors[*tensor]),
        Initial::Sparse(_) => None,
    }
}

/// Whether a default has the declared type of its input.
///
/// Undeclared parts of the type match any default.
fn fits(input: &Port, default: &Tensor) -> bool {
    let Some(TypeKind::Tensor { elem, shape }) = input.info.ty.as_ref().map(|ty| &ty.kind) else {
        return true;
    };
    let is_elem = elem.filter(|&elem| elem != 0).is_none_or(|elem| default.data_type == Some(elem));
    let Some(shape) = shape else { return is_elem };
    let same = |(declared, &dim): (&DeclaredDim, &i64)| match declared {
        DeclaredDim::Value(size) => *size < 0 || *size == dim,
        _ => true,
    };
    let declared = shape.iter().map(|dimension| &dimension.dim);
    is_elem && shape.len() == default.dims.len() && declared.zip(&default.dims).all(same)
}

/// Returns the inputs with a default that can become plain initializers; none before IR version 4.
pub fn input_weights(model: &Model) -> Vec<ValueId> {
    let graph = &model.graphs[model.main];
    let is_free = model.ir_version.is_some_and(|version| version >= FREE_INITIALIZERS);
    let own = graph.initializers.iter().copied().filter(|_| is_free);
    own.filter(|&value| matches!(model.values[value].def, Def::Input(_))).collect()
}
