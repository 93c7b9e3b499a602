//! Checks of nodes against the schema at an opset.

use crate::graph::{AttrKind, ElemType};

use super::find::{lookup, versions};
use super::model::{Arity, AttrView, Formal, Schema, Ty, Values};
use super::obstacle::{Illegal, Obstacle, Slot};
use super::types::ValueType;

/// Maximum number of type variables of an operator in the table.
const MAX_TYPE_PARAMS: usize = 8;

/// Borrowed view of a graph node or e-node, for legality checks.
#[derive(Clone, Copy, Debug)]
pub struct OpUse<'a> {
    /// Domain of the operator.
    pub domain: &'a str,
    /// Name of the operator.
    pub name: &'a str,
    /// First version with the node's semantics; `None` accepts the semantics at any opset.
    pub epoch: Option<u16>,
    /// Attributes.
    pub attrs: &'a [AttrUse<'a>],
    /// Inputs by position; absent ones at the end may be omitted.
    pub inputs: &'a [Operand],
    /// Outputs by position; absent ones at the end may be omitted.
    pub outputs: &'a [Operand],
}

/// Borrowed view of an attribute.
#[derive(Clone, Copy, Debug)]
pub struct AttrUse<'a> {
    /// Name.
    pub name: &'a str,
    /// Value.
    pub value: AttrView<'a>,
}

/// Known facts about an input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Omitted: `""` in ONNX text.
    Absent,
    Present {
        /// Type; `None` if unknown, or of a kind that [`ValueType`] lacks.
        ty: Option<ValueType>,
        /// Whether the value is known to contain a negative integer.
        negative: bool,
    },
}

impl Operand {
    /// Returns a tensor whose element values are unknown.
    pub fn tensor(elem: Option<ElemType>) -> Self {
        Operand::Present { ty: elem.map(ValueType::Tensor), negative: false }
    }
}

/// Returns the schema of a node at an opset, if the node is valid there.
///
/// Attributes that this version lacks are allowed at their default: they are omitted when the node is written.
///
/// # Errors
/// Returns the first obstacle; checks the operator, attributes, inputs, outputs and type variables in this
/// order.
pub fn legal(op: &OpUse, opset: u16) -> Result<&'static Schema, Illegal> {
    let schema = in_force(op, opset)?;
    let Some(obstacle) = obstacles(op, schema).into_iter().next() else { return Ok(schema) };
    let gone = |later: &'static Schema| !obstacles(op, later).iter().any(|o| o.is_at_place_of(&obstacle));
    let since = epoch_after(schema).find(|later| gone(later)).map(|later| later.since);
    Err(Illegal { obstacle, since })
}

/// Checks that `Identity` supports a type at an opset.
///
/// # Errors
/// Returns the obstacle if `Identity` does not support the type.
pub fn legal_identity(ty: Option<ValueType>, opset: u16) -> Result<(), Illegal> {
    let value = [Operand::Present { ty, negative: false }];
    let op = OpUse { domain: "", name: "Identity", epoch: None, attrs: &[], inputs: &value, outputs: &value };
    legal(&op, opset).map(|_| ())
}

/// Returns true if `Constant` supports an element type at an opset.
/// Before opset 9, `Constant` supports only floating-point types.
pub fn makes_constants(elem: ElemType, opset: u16) -> bool {
    let attrs = [AttrUse { name: "value", value: AttrView::Other(Some(AttrKind::Tensor)) }];
    let outputs = [Operand::Present { ty: Some(ValueType::Tensor(elem)), negative: false }];
    let op =
        OpUse { domain: "", name: "Constant", epoch: None, attrs: &attrs, inputs: &[], outputs: &outputs };
    legal(&op, opset).is_ok()
}

fn in_force(op: &OpUse, opset: u16) -> Result<&'static Schema, Illegal> {
    let is_meant = |schema: &Schema| op.epoch.is_none_or(|epoch| epoch == schema.epoch);
    let obstacle = match lookup(op.domain, op.name, opset) {
        None => Obstacle::NoSuchOp,
        Some(schema) if !is_meant(schema) => Obstacle::OtherEpoch { in_force: schema.epoch },
        Some(schema) if schema.deprecated => Obstacle::Deprecated { by: schema.since },
        Some(schema) => return Ok(schema),
    };
    // If the operator does not exist at the opset, `since` is its first version, whatever the semantics.
    let is_any = obstacle == Obstacle::NoSuchOp;
    let later = |schema: &&Schema| schema.since > opset && !schema.deprecated && (is_any || is_meant(schema));
    let since = versions(op.domain, op.name).iter().find(later).map(|schema| schema.since);
    Err(Illegal { obstacle, since })
}

/// Returns the versions of the operator with the same `epoch` as `schema`, oldest first.
fn epoch_of(schema: &'static Schema) -> impl Iterator<Item = &'static Schema> {
    let all = versions(schema.domain, schema.name).iter();
    all.filter(|version| version.epoch == schema.epoch)
}

fn epoch_after(schema: &'static Schema) -> impl Iterator<Item = &'static Schema> {
    epoch_of(schema).filter(|version| version.since > schema.since && !version.deprecated)
}

/// Returns all obstacles of a node in one version of its operator.
pub fn obstacles(op: &OpUse, schema: &'static Schema) -> Vec<Obstacle> {
    let mut found: Vec<_> = op.attrs.iter().filter_map(|attr| attribute(attr, schema)).collect();
    let written = |name| op.attrs.iter().any(|attr| attr.name == name);
    let missing = schema.attrs.iter().filter(|spec| spec.required && !written(spec.name));
    found.extend(missing.map(|spec| Obstacle::AttributeMissing { name: spec.name }));
    if (schema.domain, schema.name) == ("", "Constant") {
        found.extend(value_of_constant(op, schema));
    }

    let (inputs, outputs) = (trimmed(op.inputs), trimmed(op.outputs));
    let (least, most) = (schema.min_inputs, schema.max_inputs);
    found.extend(count(inputs.len(), least, most, Slot::Input));
    for (position, operand) in inputs.iter().enumerate() {
        let Some(formal) = schema.input(position) else { break };
        found.extend(input(*operand, formal, Slot::Input(position), schema));
    }
    // Omitted inputs at the end are valid unless they are elements of a variadic input.
    for (position, operand) in op.inputs.iter().enumerate().skip(inputs.len()) {
        let formal = schema.input(position).filter(|formal| matches!(formal.option, Arity::Variadic { .. }));
        found.extend(formal.and_then(|formal| input(*operand, formal, Slot::Input(position), schema)));
    }
    let (least, most) = (schema.min_outputs, schema.max_outputs);
    found.extend(count(outputs.len(), least, most, Slot::Output));
    for (position, operand) in outputs.iter().enumerate() {
        let Some(formal) = schema.output(position) else { break };
        found.extend(value_type(*operand, formal, Slot::Output(position), schema));
    }
    found.extend(unlike(inputs, outputs, schema));
    found
}

/// Checks that a `Constant` has exactly one attribute, which is its value.
fn value_of_constant(op: &OpUse, schema: &Schema) -> Option<Obstacle> {
    match op.attrs {
        [] if schema.attrs.iter().any(|spec| spec.required) => None,
        [] => Some(Obstacle::AttributeMissing { name: "value" }),
        [_] => None,
        [first, second, ..] => {
            Some(Obstacle::AttributeClash { name: second.name.to_owned(), other: first.name.to_owned() })
        }
    }
}

/// Reports the first operand that differs in type from an earlier operand with the same type variable.
fn unlike(inputs: &[Operand], outputs: &[Operand], schema: &'static Schema) -> Option<Obstacle> {
    let inputs = inputs.iter().enumerate().map(|(at, operand)| (operand, schema.input(at), Slot::Input(at)));
    let outputs =
        outputs.iter().enumerate().map(|(at, operand)| (operand, schema.output(at), Slot::Output(at)));
    let mut firsts: [Option<(ValueType, Slot)>; MAX_TYPE_PARAMS] = [None; MAX_TYPE_PARAMS];
    for (operand, formal, slot) in inputs.chain(outputs) {
        let Some(Formal { name, option, ty: Ty::Param(index), .. }) = formal else { continue };
        let &Operand::Present { ty: Some(ty), .. } = operand else { continue };
        if matches!(option, Arity::Variadic { homogeneous: false, .. }) {
            continue;
        }
        match firsts.get_mut(usize::from(*index))? {
            Some((other_ty, other)) if *other_ty != ty => {
                return Some(Obstacle::Unlike { slot, name, ty, other: *other, other_ty: *other_ty });
            }
            first => *first = Some((ty, slot)),
        }
    }
    None
}

fn attribute(attr: &AttrUse, schema: &'static Schema) -> Option<Obstacle> {
    let name = attr.name.to_owned();
    let Some(spec) = schema.attr(attr.name) else {
        let mut specs = epoch_of(schema).filter_map(|version| version.attr(attr.name));
        let droppable = specs.any(|spec| spec.is_default(attr.value));
        return (!droppable).then_some(Obstacle::Attribute { name });
    };
    if spec.is_default(attr.value) {
        None
    } else if attr.value.kind().is_some_and(|kind| kind != spec.kind) {
        Some(Obstacle::AttributeKind { name, expected: spec.kind })
    } else if !takes(spec.values, attr.value) {
        Some(Obstacle::AttributeValue { name, allowed: spec.values })
    } else {
        None
    }
}

fn takes(values: Values, value: AttrView) -> bool {
    match (values, value) {
        (Values::AtLeast(least), AttrView::Int(int)) => int >= least,
        (Values::AtLeast(least), AttrView::Ints(ints)) => ints.iter().all(|int| *int >= least),
        (Values::OneOf(words), AttrView::String(text)) => words.iter().any(|word| word.as_bytes() == text),
        _ => true,
    }
}

fn trimmed(operands: &[Operand]) -> &[Operand] {
    let last = operands.iter().rposition(|operand| *operand != Operand::Absent);
    &operands[..last.map_or(0, |last| last + 1)]
}

fn count(found: usize, least: u16, most: u16, slot: fn(usize) -> Slot) -> Option<Obstacle> {
    let excess = most != u16::MAX && found > usize::from(most);
    let first_wrong = if excess { usize::from(most) } else { found };
    let wrong = excess || found < usize::from(least);
    wrong.then(|| Obstacle::Count { slot: slot(first_wrong), least, most })
}

fn input(operand: Operand, formal: &'static Formal, slot: Slot, schema: &'static Schema) -> Option<Obstacle> {
    let name = formal.name;
    match operand {
        Operand::Absent => {
            let is_required = formal.option != Arity::Optional && !schema.vendor;
            is_required.then_some(Obstacle::Missing { slot, name })
        }
        Operand::Present { negative: true, .. } if formal.non_negative => {
            Some(Obstacle::Negative { slot, name })
        }
        Operand::Present { .. } => value_type(operand, formal, slot, schema),
    }
}

fn value_type(
    operand: Operand,
    formal: &'static Formal,
    slot: Slot,
    schema: &'static Schema,
) -> Option<Obstacle> {
    let Operand::Present { ty: Some(ty), .. } = operand else { return None };
    let taken = schema.allowed(formal).has(ty);
    (!taken).then_some(Obstacle::Type { slot, name: formal.name, ty })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOAT: Operand = Operand::Present { ty: Some(ValueType::Tensor(ElemType::Float)), negative: false };
    const SOME: Operand = Operand::Present { ty: None, negative: false };
    const INT64: Operand = Operand::Present { ty: Some(ValueType::Tensor(ElemType::Int64)), negative: false };

    fn node<'a>(name: &'a str, attrs: &'a [AttrUse<'a>], inputs: &'a [Operand]) -> OpUse<'a> {
        OpUse { domain: "", name, epoch: None, attrs, inputs, outputs: &[SOME] }
    }

    fn at_epoch(epoch: u16, op: OpUse) -> OpUse {
        OpUse { epoch: Some(epoch), ..op }
    }

    /// Asserts that a node is valid in the `expected` version, or has the obstacle with this message.
    #[track_caller]
    fn check(op: OpUse, opset: u16, expected: Result<u16, &str>) {
        let found = legal(&op, opset).map(|schema| schema.since).map_err(|illegal| illegal.to_string());
        assert_eq!(found, expected.map_err(str::to_owned));
    }

    #[test]
    fn operands_with_one_type_variable_must_have_one_type() {
        let half = Operand::tensor(Some(ElemType::Float16));
        let inputs = [half, FLOAT];
        let quantised = OpUse {
            outputs: &[Operand::tensor(Some(ElemType::Uint8))],
            ..node("QuantizeLinear", &[], &inputs)
        };
        check(quantised, 23, Ok(23));
        let why = "does not support float as input 1 (`y_scale`) with float16 as input 0 before opset 23";
        check(quantised, 21, Err(why));
    }

    #[test]
    fn axes_are_an_attribute_or_an_input_by_epoch() {
        let axes = [AttrUse { name: "axes", value: AttrView::Ints(&[0]) }];
        let old = at_epoch(1, node("Squeeze", &axes, &[FLOAT]));
        check(old, 11, Ok(11));
        check(old, 13, Err("has other semantics since opset 13"));
        let new = at_epoch(13, node("Squeeze", &[], &[FLOAT, INT64]));
        check(new, 13, Ok(13));
        check(new, 11, Err("has the semantics of `@1` before opset 13"));
        let negative = [AttrUse { name: "axes", value: AttrView::Ints(&[-1]) }];
        let op = node("Squeeze", &negative, &[FLOAT]);
        check(op, 10, Err("supports no integers below 0 for `axes` before opset 11"));
        check(op, 11, Ok(11));
        check(op, 13, Err("has no attribute `axes`"));
    }

    #[test]
    fn element_types_are_supported_since_their_version() {
        let half = [Operand::tensor(Some(ElemType::Float16))];
        check(node("Clip", &[], &half), 11, Ok(11));
        let bfloat = [Operand::tensor(Some(ElemType::Bfloat16))];
        let no_bfloat = "does not support bfloat16 as input 0 (`input`) before opset 13";
        check(node("Clip", &[], &bfloat), 12, Err(no_bfloat));
        check(node("Clip", &[], &bfloat), 13, Ok(13));
        let list = [Operand::Present { ty: Some(ValueType::Sequence(ElemType::Float)), negative: false }];
        let no_list = "does not support seq(tensor(float)) as input 0 (`input`) before opset 14";
        check(node("Identity", &[], &list), 13, Err(no_list));
        let ints = [Operand::tensor(Some(ElemType::Int32))];
        check(node("Erf", &[], &ints), 9, Ok(9));
        check(node("Erf", &[], &ints), 13, Err("does not support int32 as input 0 (`input`)"));
    }

    #[test]
    fn unsupported_attribute_at_its_default_is_allowed() {
        let allow = |zero| [AttrUse { name: "allowzero", value: AttrView::Int(zero) }];
        check(node("Reshape", &allow(0), &[FLOAT, INT64]), 13, Ok(13));
        let early = "has no attribute `allowzero` before opset 14";
        check(node("Reshape", &allow(1), &[FLOAT, INT64]), 13, Err(early));
        check(node("Reshape", &allow(1), &[FLOAT, INT64]), 14, Ok(14));
        let kernel = AttrUse { name: "kernel_shape", value: AttrView::Ints(&[2, 2]) };
        let ones = AttrUse { name: "dilations", value: AttrView::Ints(&[1, 1]) };
        check(node("AveragePool", &[kernel, ones], &[FLOAT]), 11, Ok(11));
    }

    #[test]
    fn attribute_values_are_checked() {
        let wrap = [AttrUse { name: "mode", value: AttrView::String(b"wrap") }];
        let early = "supports only `constant`, `reflect` or `edge` for `mode` before opset 19";
        check(node("Pad", &wrap, &[FLOAT, INT64]), 18, Err(early));
        check(node("Pad", &wrap, &[FLOAT, INT64]), 19, Ok(19));
        let axis = [AttrUse { name: "axis", value: AttrView::Float(1.0) }];
        check(node("Softmax", &axis, &[FLOAT]), 13, Err("requires `axis` to be of kind int"));
    }

    #[test]
    fn number_and_values_of_operands_are_checked() {
        check(node("Gather", &[], &[FLOAT]), 13, Err("needs input 1: it takes 2 inputs"));
        let three = [FLOAT, INT64, INT64];
        check(node("Gather", &[], &three), 13, Err("has no input 2: it takes 2 inputs"));
        let negative = Operand::Present { ty: Some(ValueType::Tensor(ElemType::Int64)), negative: true };
        let early = "does not support negative integers as input 1 (`indices`) before opset 11";
        check(node("Gather", &[], &[FLOAT, negative]), 10, Err(early));
        check(node("Gather", &[], &[FLOAT, negative]), 11, Ok(11));
        let late = "needs input 2: it takes 3 inputs before opset 11";
        check(node("Gemm", &[], &[FLOAT, FLOAT]), 9, Err(late));
        check(node("Gemm", &[], &[FLOAT, FLOAT]), 11, Ok(11));
        check(node("Slice", &[], &[FLOAT, Operand::Absent, INT64]), 13, Err("needs input 1 (`starts`)"));
    }

    #[test]
    fn unknown_and_deprecated_operators_are_illegal() {
        check(node("Gelu", &[], &[FLOAT]), 19, Err("does not exist before opset 20"));
        check(node("Foo", &[], &[FLOAT]), 19, Err("is not a known operator"));
        check(node("Upsample", &[], &[FLOAT, FLOAT]), 10, Err("is deprecated since opset 10"));
        let norm = node("GroupNormalization", &[], &[FLOAT, FLOAT, FLOAT]);
        check(norm, 19, Err("is deprecated from opset 18 to opset 20"));
    }

    #[test]
    fn default_attributes_are_legal_in_every_version() {
        for schema in crate::schema::schemas("").iter().filter(|schema| !schema.deprecated) {
            let defaults: Vec<_> = schema.attrs.iter().filter_map(default_use).collect();
            let op = OpUse { outputs: &[], ..node(schema.name, &defaults, &[]) };
            let found = obstacles(&op, schema);
            let at_attribute = found
                .iter()
                .find(|o| o.attribute().is_some_and(|name| defaults.iter().any(|attr| attr.name == name)));
            assert_eq!(at_attribute, None, "{}@{}", schema.name, schema.since);
        }
    }

    fn default_use(spec: &'static super::super::AttrSpec) -> Option<AttrUse<'static>> {
        use super::super::AttrDefault;
        let value = match spec.default? {
            AttrDefault::Int(int) => AttrView::Int(int),
            AttrDefault::Float(float) => AttrView::Float(float),
            AttrDefault::String(text) => AttrView::String(text.as_bytes()),
            AttrDefault::Ints(ints) => AttrView::Ints(ints),
            _ => return None,
        };
        Some(AttrUse { name: spec.name, value })
    }
}
