//! Schemas of PyTorch operators, so that rules with PyTorch operators are checked like ONNX rules.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::{ALL, COMPLEX, DOMAIN, Kind, Param, Signature, Stage, is_stepwise};
use crate::graph::AttrKind;
use crate::schema::{Arity, AttrSpec, Determinism, Formal, Schema, Ty, TypeSet, Values};

/// Returns the only version of an operator; empty for an unknown operator.
pub fn versions(name: &str) -> &'static [Schema] {
    let found = match name.strip_prefix(COMPLEX) {
        Some(name) => OF_COMPLEX.get(name),
        None => SCHEMAS.get(name).or_else(|| STAGES.get(name)),
    };
    found.map_or(&[], std::slice::from_ref)
}

static SCHEMAS: LazyLock<FxHashMap<&str, Schema>> =
    LazyLock::new(|| ALL.iter().map(|signature| (signature.name, schema(signature))).collect());

static OF_COMPLEX: LazyLock<FxHashMap<&str, Schema>> =
    LazyLock::new(|| ALL.iter().map(|signature| (signature.name, of_complex(signature))).collect());

/// Schemas of the stages of factorizations.
static STAGES: LazyLock<FxHashMap<&str, Schema>> = LazyLock::new(|| {
    let stepwise = ALL.iter().filter(|signature| is_stepwise(signature.name));
    let stages = stepwise.flat_map(|signature| Stage::ALL.map(|stage| of_stage(stage, signature)));
    stages.map(|schema| (schema.name, schema)).collect()
});

/// Returns the schema of a stage: the state is the first input, except at the start.
fn of_stage(stage: Stage, signature: &Signature) -> Schema {
    let whole = schema(signature);
    let name = Box::leak(format!("{}{}", stage.prefix(), signature.name).into_boxed_str());
    let own = |name| Formal { name, option: Arity::Single, ty: Ty::Exactly(&ANY), non_negative: false };
    let inputs = match stage {
        Stage::Start => whole.inputs.to_vec(),
        Stage::Step => vec![own("state"), own("round")],
        Stage::End => std::iter::once(own("state")).chain(whole.inputs.iter().cloned()).collect(),
    };
    let min_inputs = match stage {
        Stage::Start => whole.min_inputs,
        Stage::Step => 2,
        Stage::End => whole.min_inputs + 1,
    };
    let attrs = if stage == Stage::Step { &[] } else { whole.attrs };
    let max_inputs = inputs.len() as u16;
    Schema { name, inputs: Vec::leak(inputs), min_inputs, max_inputs, attrs, ..whole }
}

/// Returns the schema for complex numbers: each complex input is followed by its imaginary part.
/// In a list, each tensor is followed by its imaginary part, too.
fn of_complex(signature: &Signature) -> Schema {
    let inputs = signature.params.iter().filter(|param| param.is_input).flat_map(|param| {
        let imaginary = Some(param)
            .filter(|param| has_parts(param) && !param.is_list)
            .map(|param| Formal { option: Arity::Optional, ..formal(param) });
        std::iter::once(formal(param)).chain(imaginary)
    });
    let inputs: Vec<Formal> = inputs.collect();
    let real = schema(signature);
    let name = Box::leak(format!("{COMPLEX}{}", signature.name).into_boxed_str());
    let max_inputs = if real.max_inputs == u16::MAX { u16::MAX } else { inputs.len() as u16 };
    Schema { name, max_inputs, inputs: Vec::leak(inputs), ..real }
}

static ANY: TypeSet = TypeSet { tensor: u32::MAX, ..TypeSet::EMPTY };

fn schema(signature: &Signature) -> Schema {
    let (inputs, attrs): (Vec<&Param>, Vec<&Param>) =
        signature.params.iter().partition(|param| param.is_input);
    let is_many = inputs.iter().any(|param| param.is_list && param.kind == Kind::Tensor);
    let required = inputs.iter().rposition(|param| !param.is_optional && param.default.is_none());
    let mut attrs: Vec<AttrSpec> = attrs.into_iter().flat_map(attr_specs).collect();
    attrs.extend(
        inputs.iter().filter(|param| is_sparse(param)).map(|param| spec(param.name, AttrKind::Ints, false)),
    );
    attrs.sort_by_key(|attr| attr.name);
    Schema {
        domain: DOMAIN,
        name: signature.name,
        since: 1,
        epoch: 1,
        deprecated: false,
        vendor: true,
        determinism: Determinism::Deterministic,
        has_body: false,
        inputs: Vec::leak(inputs.iter().map(|param| formal(param)).collect()),
        outputs: Vec::leak(vec![Formal {
            name: "y",
            option: Arity::Single,
            ty: Ty::Exactly(&ANY),
            non_negative: false,
        }]),
        min_inputs: if is_many { 0 } else { required.map_or(0, |last| last as u16 + 1) },
        max_inputs: if is_many { u16::MAX } else { inputs.len() as u16 },
        min_outputs: 0,
        max_outputs: u16::MAX,
        attrs: Vec::leak(attrs),
        type_params: &[],
    }
}

/// Names of parameters that are never complex: conditions, indices, masks, counts and coordinates.
const PLACES: [&str; 6] = ["condition", "index", "indices", "mask", "repeats", "spacing"];

/// Returns true if the argument of a parameter may be complex.
pub fn has_parts(param: &Param) -> bool {
    param.is_input && matches!(param.kind, Kind::Tensor | Kind::Scalar) && !PLACES.contains(&param.name)
}

/// Returns true for `Tensor?[]`, where an attribute of the same name tells which tensors are present.
pub fn is_sparse(param: &Param) -> bool {
    param.kind == Kind::Tensor && param.is_list && param.name == "indices"
}

fn formal(param: &Param) -> Formal {
    let option = match param {
        Param { kind: Kind::Tensor, is_list: true, .. } => Arity::Variadic { homogeneous: false, min: 0 },
        Param { is_optional: true, .. } => Arity::Optional,
        _ => Arity::Single,
    };
    Formal { name: param.name, option, ty: Ty::Exactly(&ANY), non_negative: false }
}

fn attr_specs(param: &Param) -> Vec<AttrSpec> {
    let kind = match (param.kind, param.is_list) {
        (Kind::Int | Kind::Bool | Kind::Elem, false) => AttrKind::Int,
        (Kind::Int | Kind::Bool | Kind::Elem, true) => AttrKind::Ints,
        (Kind::Float | Kind::Scalar, false) => AttrKind::Float,
        (Kind::Float | Kind::Scalar, true) => AttrKind::Floats,
        (Kind::Str, false) => AttrKind::String,
        (Kind::Str, true) => AttrKind::Strings,
        (Kind::Tensor, _) => AttrKind::Tensor,
    };
    vec![spec(param.name, kind, param.default.is_none() && !param.is_optional)]
}

fn spec(name: &'static str, kind: AttrKind, required: bool) -> AttrSpec {
    AttrSpec { name, kind, required, default: None, values: Values::Any }
}
