//! Casts that give the inputs of a node the types that its operator requires.

use super::lossless::{fits, is_numeric};
use crate::analyses::LintContext;
use crate::graph::{ElemType, Node, NodeId};
use crate::infer::Fact;
use crate::schema::{self, Arity, Formal, Schema, Ty, TypeSet};
use crate::torch::promotion::{category, promoted};

/// Casts to insert before and after a node.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Casts {
    /// Inputs to convert, by position, with their new types.
    pub inputs: Vec<(usize, ElemType)>,
    /// Outputs to convert back, by position, with the types that their users expect.
    pub outputs: Vec<(usize, ElemType)>,
}

/// Operators that write `updates` into `data`: as in PyTorch, `updates` take the type of `data`.
const WRITES: [&str; 4] = ["Scatter", "ScatterElements", "ScatterND", "TensorScatter"];

/// Operators on real numbers, whose outputs are not converted back to an integer or bool type.
const REAL: [&str; 57] = [
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "AveragePool",
    "BatchNormalization",
    "Celu",
    "Conv",
    "ConvTranspose",
    "Cos",
    "Cosh",
    "DeformConv",
    "DequantizeLinear",
    "Det",
    "Elu",
    "Erf",
    "Exp",
    "GRU",
    "Gelu",
    "GlobalAveragePool",
    "GlobalLpPool",
    "GridSample",
    "GroupNormalization",
    "HardSigmoid",
    "HardSwish",
    "Hardmax",
    "InstanceNormalization",
    "LRN",
    "LSTM",
    "LayerNormalization",
    "LeakyRelu",
    "Log",
    "LogSoftmax",
    "LpNormalization",
    "LpPool",
    "Mean",
    "MeanVarianceNormalization",
    "Mish",
    "RMSNormalization",
    "RNN",
    "QuantizeLinear",
    "Reciprocal",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMean",
    "Selu",
    "Sigmoid",
    "Sin",
    "Sinh",
    "Softmax",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Tanh",
];

/// Sums and products: if bool inputs are converted, the outputs are not converted back.
const COUNTS: [&str; 6] = ["CumSum", "MatMul", "ReduceL1", "ReduceProd", "ReduceSum", "ReduceSumSquare"];

/// Inputs that share a type variable, or one input without a type variable.
struct Group<'a> {
    param: Option<u8>,
    allowed: &'static TypeSet,
    members: Vec<Member<'a>>,
}

struct Member<'a> {
    input: usize,
    elem: ElemType,
    fact: &'a Fact,
}

/// Returns the casts that make the input types of a node legal; `None` if no cast is needed or safe.
///
/// As in PyTorch, the inputs of a type variable are promoted to one type, and constants take the type of the
/// data. A narrowing cast is safe in three cases: PyTorch makes the same cast, the cast keeps the numbers
/// of a constant, or a parameter is in double (`narrower`). Index inputs become int64, or else int32. If
/// an operator does not support the type of its inputs, a wider type is used, and the outputs are converted
/// back.
pub fn casts(cx: &LintContext, id: NodeId) -> Option<Casts> {
    let node = &cx.model.nodes[id];
    if cx.model.callee(id).is_some() {
        return None;
    }
    let opset = u16::try_from(schema::opset_as_written(node, cx.opset(node))).ok()?;
    let schema = schema::lookup(node.domain(), &node.op_type, opset).filter(|schema| !schema.deprecated)?;
    let mut casts = Casts::default();
    for group in groups(cx, node, schema) {
        let Some(from) = mixed_or_unsupported(&group, schema) else { continue };
        let first = cx.input(node, 0).and_then(|fact| fact.as_tensor()?.elem);
        let to = target(node, schema, &group, first)?;
        let changed = group.members.iter().filter(|member| member.elem != to);
        casts.inputs.extend(changed.map(|member| (member.input, to)));
        // Users of the outputs expect the type of one of the inputs, so convert the outputs back from any
        // other type.
        if group.members.iter().any(|member| member.elem == to) {
            continue;
        }
        let back = result(node, from, to);
        let outputs = (0..node.outputs.len()).filter(|&at| node.outputs[at].is_some() && back != to);
        let same = outputs.filter(|&at| is_of(schema.output(at), group.param));
        casts.outputs.extend(same.map(|at| (at, back)));
    }
    (!casts.inputs.is_empty()).then_some(casts)
}

/// Groups the inputs of a node by type variable; an input of fixed type is a group by itself.
///
/// Omits inputs of unknown type, all inputs that share a type variable with an input of unknown type, and
/// inputs of a heterogeneous variadic.
fn groups<'a>(cx: &LintContext<'a>, node: &Node, schema: &'static Schema) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut unknown: Vec<u8> = Vec::new();
    for input in 0..node.inputs.len() {
        let (Some(formal), Some(fact)) = (schema.input(input), cx.input(node, input)) else { continue };
        let param = match (formal.ty, formal.option) {
            (_, Arity::Variadic { homogeneous: false, .. }) => continue,
            (Ty::Param(param), _) => Some(param),
            (Ty::Exactly(_), _) => None,
        };
        let Some(elem) = fact.as_tensor().and_then(|tensor| tensor.elem) else {
            unknown.extend(param);
            continue;
        };
        let member = Member { input, elem, fact };
        match groups.iter_mut().find(|group| param.is_some() && group.param == param) {
            Some(group) => group.members.push(member),
            None => groups.push(Group { param, allowed: schema.allowed(formal), members: vec![member] }),
        }
    }
    groups.retain(|group| group.param.is_none_or(|param| !unknown.contains(&param)));
    groups
}

/// Returns the promoted type of a group if its types differ or are not supported.
///
/// Supported types are not checked for operators of a runtime, because newer releases may support more.
fn mixed_or_unsupported(group: &Group, schema: &Schema) -> Option<ElemType> {
    let first = group.members.first()?.elem;
    let is_mixed = group.members.iter().any(|member| member.elem != first);
    let is_unsupported = !schema.vendor && !group.allowed.has_tensor(first);
    (is_mixed || is_unsupported)
        .then(|| group.members.iter().fold(first, |all, member| promoted(all, member.elem)))
}

/// Returns the type to which all inputs of a group are converted; `None` if no conversion is safe.
///
/// Constants take the type of the data or, if the whole group is constant, the type `first` of the node's first input if
/// one of them has it.
fn target(node: &Node, schema: &Schema, group: &Group, first: Option<ElemType>) -> Option<ElemType> {
    if !group.members.iter().all(|member| is_numeric(member.elem)) {
        return None;
    }
    if only(group.allowed, &[ElemType::Bool]) {
        return Some(ElemType::Bool);
    }
    if only(group.allowed, &[ElemType::Int32, ElemType::Int64]) {
        return index_type(group);
    }
    let is_write = node.domain().is_empty() && WRITES.contains(&&*node.op_type);
    let (data, others): (Vec<&Member>, Vec<&Member>) =
        group.members.iter().partition(|member| match is_write {
            true => member.input == 0,
            false => !member.fact.is_const(),
        });
    let (data, others) = if data.is_empty() { (others, data) } else { (data, others) };
    let is_constant = others.is_empty() && data.iter().all(|member| member.fact.is_const());
    let of_first = first.filter(|first| is_constant && data.iter().any(|member| member.elem == *first));
    let (data, others) = if of_first.is_some() { (others, data) } else { (data, others) };
    let mut to = of_first.or_else(|| data.iter().map(|member| member.elem).reduce(promoted))?;
    for other in others.iter().filter(|other| !is_write || other.fact.is_const()) {
        if category(other.elem) > category(to) && !is_write || !fits(other.fact, to) {
            to = promoted(to, other.elem);
        }
    }
    let is_only_here =
        !group.param.is_some_and(|_| schema.outputs.iter().any(|of| is_of(Some(of), group.param)));
    // Mod of floats is the remainder of C, not of Python.
    if node.is("Mod") && category(to) == 2 && node.attr("fmod").and_then(|fmod| fmod.as_int()) != Some(1) {
        return None;
    }
    let wider = wider(to, is_only_here || is_real(node));
    let allows = |&&elem: &&ElemType| group.allowed.has_tensor(elem);
    let wider = std::iter::once(&to).chain(wider).find(allows).copied();
    // Runtimes have no kernels for most operators with 16-bit integers.
    let is_new = |elem: ElemType| group.members.iter().all(|member| member.elem != elem);
    match wider {
        Some(ElemType::Int16) if is_new(ElemType::Int16) && allows(&&ElemType::Int32) => {
            Some(ElemType::Int32)
        }
        None => narrower(group),
        wider => wider,
    }
}

/// Returns float for parameters in double, such as the scales of a Resize, if only float is supported.
fn narrower(group: &Group) -> Option<ElemType> {
    let [member] = &group.members[..] else { return None };
    let is_parameter = member.input > 0 || member.fact.is_const();
    let is_safe =
        is_parameter && member.elem == ElemType::Double && group.allowed.has_tensor(ElemType::Float);
    (is_safe && (!member.fact.is_const() || fits(member.fact, ElemType::Float))).then_some(ElemType::Float)
}

/// Returns the type of indices, axes and sizes: int64 if the operator supports it, or else int32.
fn index_type(group: &Group) -> Option<ElemType> {
    let to = if group.allowed.has_tensor(ElemType::Int64) { ElemType::Int64 } else { ElemType::Int32 };
    let is_safe = |member: &Member| match member.fact.as_const() {
        Some(_) => fits(member.fact, to),
        None => member.elem != ElemType::Uint64,
    };
    group.members.iter().all(is_safe).then_some(to)
}

/// Returns the types to which `elem` can be widened; types with the most runtime kernels come first.
///
/// If `is_real`, the result is not converted back, so float suffices for integers. If not `is_real`, the
/// wider type must represent the integers: double represents int32, and int64 up to 2^53.
fn wider(elem: ElemType, is_real: bool) -> &'static [ElemType] {
    use ElemType::{
        Bfloat16, Bool, Double, Float, Float16, Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32,
    };
    match elem {
        Bool => &[Int64, Int32, Float],
        Int8 | Uint8 | Int16 | Uint16 if is_real => &[Int32, Int64, Float],
        Int8 | Uint8 | Int16 | Uint16 => &[Int32, Int64, Float, Double],
        Int32 | Int64 | Uint32 if is_real => &[Int64, Float],
        Int32 | Int64 | Uint32 => &[Int64, Double],
        Float16 | Bfloat16 => &[Float],
        Float => &[Double],
        _ => &[],
    }
}

/// Returns the type of the outputs of a node whose inputs were converted from `from` to `to`.
fn result(node: &Node, from: ElemType, to: ElemType) -> ElemType {
    match category(from) {
        0 if COUNTS.contains(&&*node.op_type) => to,
        0 | 1 if is_real(node) => to,
        _ => from,
    }
}

fn is_real(node: &Node) -> bool {
    node.domain().is_empty() && REAL.contains(&&*node.op_type)
}

/// Whether a formal parameter has the type variable `param`.
fn is_of(formal: Option<&Formal>, param: Option<u8>) -> bool {
    let of = formal.and_then(|formal| match formal.ty {
        Ty::Param(of) => Some(of),
        Ty::Exactly(_) => None,
    });
    of.is_some() && of == param
}

/// Whether a set has tensors of these types only.
fn only(set: &TypeSet, elems: &[ElemType]) -> bool {
    let bits = elems.iter().fold(0, |bits, &elem| bits | 1 << elem as u32);
    set.tensor != 0 && set.tensor & !bits == 0
}
