//! Draws near-misses: examples of rules with up to two changes, and sometimes a few more nodes.

use std::hash::BuildHasher;

use onnx_lint::graph::{
    AttrValue, DeclaredDim, Def, Dimension, ElemType, Initial, Model, Port, TensorId, Type, TypeKind,
    ValueId, ValueInfo,
};
use onnx_lint::infer;
use onnx_lint::infer::eval::Array;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::schema::{self, Values};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::case::{Case, SYMBOLS, run};
use crate::draft::Draft;
use crate::fill::{self, Fill};
use crate::graph::{OPSETS, grow};
use crate::random::Random;

/// An example of a rule, with a key that does not depend on other rules.
pub struct Example {
    key: u64,
    model: Model,
}

/// Returns the examples that near-misses are based on.
pub fn examples() -> Vec<Example> {
    let (rules, _) = RuleSet::embedded();
    let examples = rules.iter().flat_map(|rule| {
        rule.examples.iter().enumerate().map(|(at, example)| Example {
            key: FxBuildHasher.hash_one((&*rule.code, at)),
            model: example.model.clone(),
        })
    });
    let suits = |Example { model, .. }: &Example| {
        let opset = model.opset(model.main, "").unwrap_or(0);
        OPSETS.contains(&opset) && model.nodes.len() <= 24
    };
    examples.filter(suits).collect()
}

/// Picks an example such that adding a rule changes the choice for only few graphs.
fn pick<'e>(examples: &'e [Example], random: &mut Random) -> Option<&'e Model> {
    let salt = random.next();
    let chosen = examples.iter().max_by_key(|example| FxBuildHasher.hash_one((example.key, salt)))?;
    Some(&chosen.model)
}

/// Draws a near-miss.
pub fn draw(examples: &[Example], mut random: Random) -> Option<Case> {
    let model = pick(examples, &mut random)?.clone();
    let mut case = Case { model, fills: FxHashMap::default(), is_traced: false };
    let changes = random.of_these([0, 1, 1, 1, 2, 2]);
    for _ in 0..changes {
        change(&mut case.model, &mut random);
    }
    if random.once_in(3) {
        case = grown(case, &mut random)?;
    }
    Some(case)
}

/// Adds a few nodes, which may use intermediate values.
fn grown(case: Case, random: &mut Random) -> Option<Case> {
    let fill = random.of_these([0, 1]);
    let fill = if fill == 0 { Fill::Any } else { Fill::UpTo(2) };
    let Some(ran) = case.feeds(0, &fill, random).and_then(|feeds| run(&case.model, &feeds).ok()) else {
        return Some(case);
    };
    let opset = case.model.opset(case.model.main, "").and_then(|opset| u16::try_from(opset).ok())?;
    let mut draft = Draft::new(opset, random.clone());
    let mut values: Vec<ValueId> = ran.values.keys().copied().collect();
    values.sort_unstable();
    draft.scopes = vec![(case.model.main, values)];
    draft.case = case;
    draft.values = ran.values;
    let nodes = 1 + random.below(2);
    grow(&mut draft, nodes);
    let known: Vec<ValueId> =
        draft.case.model.graphs[draft.case.model.main].outputs.iter().map(|port| port.value).collect();
    let mut case = crate::graph::finish(draft);
    let main = case.model.main;
    let mut seen: Vec<ValueId> = Vec::new();
    case.model.graphs[main].outputs.retain(|port| {
        let is_new = !seen.contains(&port.value);
        seen.push(port.value);
        is_new
            || known.contains(&port.value) && known.iter().filter(|value| **value == port.value).count() > 1
    });
    Some(case)
}

/// Makes one change.
fn change(model: &mut Model, random: &mut Random) {
    match random.below(9) {
        0 | 1 => attribute(model, random),
        2 | 3 => constant(model, random),
        4 => size(model, random),
        5 => element_type(model, random),
        6 => another_use(model, random),
        7 => inputs(model, random),
        _ => operator(model, random),
    }
}

fn attribute(model: &mut Model, random: &mut Random) {
    let with: Vec<_> =
        model.nodes.iter().filter(|(_, node)| !node.attrs.is_empty()).map(|(id, _)| id).collect();
    let Some(&id) = random.pick(&with) else { return };
    let node = &model.nodes[id];
    let at = random.below(node.attrs.len());
    let opset = model.opset(node.graph, node.domain()).unwrap_or(0) as u16;
    let spec = schema::lookup(node.domain(), &node.op_type, opset).and_then(|s| s.attr(&node.attrs[at].name));
    let node = &mut model.nodes[id];
    if random.once_in(8) {
        node.attrs.remove(at);
        return;
    }
    match &mut node.attrs[at].value {
        AttrValue::Int(int) => *int = random.of_these([*int + 1, *int - 1, 0, 1, -1, 2, -*int]),
        AttrValue::Float(float) => *float = random.of_these([0.0, 1.0, -1.0, *float * 2.0, *float + 1.0]),
        AttrValue::Ints(ints) if !ints.is_empty() => {
            let at = random.below(ints.len());
            match random.below(4) {
                0 => random.shuffle(ints),
                1 => drop(ints.pop()),
                _ => ints[at] = random.of_these([ints[at] + 1, ints[at] - 1, 0, 1, -1]),
            }
        }
        AttrValue::String(text) => {
            if let Some(Values::OneOf(all)) = spec.map(|spec| spec.values)
                && let Some(other) = random.pick(all)
            {
                *text = bytes::Bytes::from_static(other.as_bytes());
            }
        }
        AttrValue::Tensor(tensor) => {
            let tensor = *tensor;
            other_elements(model, tensor, random);
        }
        _ => {}
    }
}

fn constant(model: &mut Model, random: &mut Random) {
    let tensors: Vec<TensorId> = model.tensors.ids().collect();
    if let Some(&tensor) = random.pick(&tensors) {
        other_elements(model, tensor, random);
    }
}

fn other_elements(model: &mut Model, tensor: TensorId, random: &mut Random) {
    let Some(array) = infer::array(&model.tensors[tensor]) else { return };
    let (elem, shape) = (array.elem(), array.shape().to_vec());
    let changed = match random.below(5) {
        0 => fill::array(elem, &shape, &Fill::Extreme, random),
        1 => fill::array(elem, &shape, &Fill::Any, random),
        2 if shape.is_empty() => array.reshaped(vec![1]).ok(),
        2 if array.len() == 1 => array.reshaped(vec![]).ok(),
        2 => {
            let mut longer = shape.clone();
            longer.insert(0, 1);
            array.reshaped(longer).ok()
        }
        _ => one_element(&array, random),
    };
    let Some(changed) = changed else { return };
    let name = model.tensors[tensor].name.take();
    model.tensors[tensor] = infer::tensor_of(&changed);
    model.tensors[tensor].name = name;
}

fn one_element(array: &Array, random: &mut Random) -> Option<Array> {
    let (elem, shape) = (array.elem(), array.shape().to_vec());
    let at = random.below(array.len());
    if elem.is_integer() {
        let mut ints = array.ints().ok()?;
        let old = *ints.get(at)?;
        ints[at] = random.of_these([old + 1, old - 1, 0, 1, -1, -old]);
        return Array::from_ints(elem, shape, ints).ok();
    }
    let mut floats = array.f64s().ok()?;
    let old = *floats.get(at)?;
    floats[at] = random.of_these([old + 1.0, -old, 0.0, -0.0, 1.0, old * 2.0, f64::INFINITY, f64::NAN]);
    Array::from_f64s(elem, shape, floats).ok()
}

/// Returns the declared types of inputs and outputs.
fn types(model: &mut Model) -> impl Iterator<Item = &mut Type> {
    let main = &mut model.graphs[model.main];
    main.inputs.iter_mut().chain(&mut main.outputs).filter_map(|port| port.info.ty.as_mut())
}

/// Changes a declared size or the rank of an input, or nothing.
/// Removes the declared shapes of outputs, which may no longer be true.
fn size(model: &mut Model, random: &mut Random) {
    let main = model.main;
    loosen(model);
    let ports = &mut model.graphs[main].inputs;
    let at = random.below(ports.len());
    let Some(port) = ports.get_mut(at) else { return };
    let Some(TypeKind::Tensor { shape: Some(shape), .. }) = port.info.ty.as_mut().map(|ty| &mut ty.kind)
    else {
        return;
    };
    let dim = match random.below(5) {
        0 => DeclaredDim::Param(random.of_these(SYMBOLS).into()),
        1 => DeclaredDim::Absent,
        _ => DeclaredDim::Value(random.of_these([0, 1, 1, 2, 3])),
    };
    let dim = Dimension { dim, denotation: None };
    let axis = random.below(shape.len() + 1);
    match random.below(4) {
        0 => shape.insert(axis, dim),
        1 if axis < shape.len() => drop(shape.remove(axis)),
        _ if axis < shape.len() => shape[axis] = dim,
        _ => {}
    }
}

/// Removes the declared shapes of outputs, and the value_info.
fn loosen(model: &mut Model) {
    let main = model.main;
    for port in &mut model.graphs[main].outputs {
        if let Some(TypeKind::Tensor { shape, .. }) = port.info.ty.as_mut().map(|ty| &mut ty.kind) {
            *shape = None;
        }
    }
    model.graphs[main].value_info.clear();
}

/// Replaces an element type in the interface, and in constants if both types are floats or neither is.
fn element_type(model: &mut Model, random: &mut Random) {
    let from = random.of_these([ElemType::Float, ElemType::Float, ElemType::Int64, ElemType::Int32]);
    let to = random.of_these([
        ElemType::Float16,
        ElemType::Double,
        ElemType::Bfloat16,
        ElemType::Int32,
        ElemType::Int64,
        ElemType::Int8,
        ElemType::Uint8,
        ElemType::Float,
    ]);
    for ty in types(model) {
        if let TypeKind::Tensor { elem, .. } = &mut ty.kind
            && *elem == Some(from.number())
        {
            *elem = Some(to.number());
        }
    }
    let all = from.is_float() == to.is_float();
    let ids: Vec<TensorId> = model.tensors.ids().collect();
    for id in ids.into_iter().filter(|_| all) {
        let tensor = &model.tensors[id];
        let Some(array) = infer::array(tensor).filter(|array| array.elem() == from) else { continue };
        let Ok(floats) = array.f64s() else { continue };
        let Ok(array) = Array::from_f64s(to, array.shape().to_vec(), floats) else { continue };
        let name = tensor.name.clone();
        model.tensors[id] = infer::tensor_of(&array);
        model.tensors[id].name = name;
    }
}

/// Makes a value an additional output; a value that is already an output is then listed twice.
fn another_use(model: &mut Model, random: &mut Random) {
    let main = model.main;
    let made = model.graphs[main].nodes.iter().flat_map(|&node| model.nodes[node].outputs.iter().flatten());
    let given = model.graphs[main].inputs.iter().map(|port| port.value);
    let values: Vec<ValueId> = made.copied().chain(given).collect();
    if let Some(&value) = random.pick(&values) {
        let known = model.graphs[main].inputs.iter().find(|port| port.value == value);
        let info = known.map(|port| port.info.clone()).unwrap_or_default();
        let info = match model.graphs[main].outputs.iter().find(|port| port.value == value) {
            Some(port) => port.info.clone(),
            None if info.ty.is_none() => inferred(model, value),
            None => info,
        };
        model.graphs[main].outputs.push(Port { value, info });
    }
}

fn inferred(model: &Model, value: ValueId) -> ValueInfo {
    let facts = infer::infer(model, infer::Options::default());
    let elem = facts[value].as_tensor().and_then(|fact| fact.elem);
    let ty = elem.map(|elem| crate::draft::tensor_type(elem, None));
    ValueInfo { ty, ..ValueInfo::default() }
}

/// Swaps two inputs of a node, replaces one, or turns an initializer into an input.
fn inputs(model: &mut Model, random: &mut Random) {
    loosen(model);
    let main = model.main;
    if random.once_in(3) {
        let initializers = model.graphs[main].initializers.clone();
        let Some(&value) = random.pick(&initializers) else { return };
        let Some(Initial::Dense(tensor)) = model.values[value].initial else { return };
        let tensor = &model.tensors[tensor];
        let Some(elem) = tensor.elem() else { return };
        let dims = tensor.dims.iter().map(|&dim| DeclaredDim::Value(dim)).collect();
        let info =
            ValueInfo { ty: Some(crate::draft::tensor_type(elem, Some(dims))), ..ValueInfo::default() };
        model.values[value].def = Def::Input(model.graphs[main].inputs.len() as u32);
        model.graphs[main].inputs.push(Port { value, info });
        return;
    }
    let nodes = model.graphs[main].nodes.clone();
    let Some(&node) = random.pick(&nodes) else { return };
    let count = model.nodes[node].inputs.len();
    if count == 0 {
        return;
    }
    let (a, b) = (random.below(count), random.below(count));
    if random.once_in(2) {
        model.nodes[node].inputs.swap(a, b);
    } else {
        model.nodes[node].inputs[a] = model.nodes[node].inputs[b];
    }
}

const ALIKE: [&[&str]; 8] = [
    &["Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Mod"],
    &[
        "Relu",
        "Neg",
        "Abs",
        "Sigmoid",
        "Tanh",
        "Exp",
        "Sqrt",
        "Floor",
        "Ceil",
        "Identity",
        "Erf",
        "Reciprocal",
    ],
    &["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ReduceSumSquare"],
    &["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"],
    &["And", "Or", "Xor"],
    &["Squeeze", "Unsqueeze"],
    &["Softmax", "LogSoftmax", "Hardmax"],
    &["ArgMax", "ArgMin"],
];

/// Replaces an operator by a similar one, or changes the opset.
fn operator(model: &mut Model, random: &mut Random) {
    if random.once_in(3) {
        let by = random.of_these([-2, -1, 1, 2]);
        for import in
            model.opsets.iter_mut().filter(|import| import.domain.as_deref().unwrap_or("").is_empty())
        {
            import.version =
                import.version.map(|version| (version + by).clamp(*OPSETS.start(), *OPSETS.end()));
        }
        return;
    }
    let ids: Vec<_> = model.nodes.ids().collect();
    let Some(&id) = random.pick(&ids) else { return };
    let op = model.nodes[id].op_type.clone();
    if let Some(other) = ALIKE.iter().find(|all| all.contains(&&*op)).and_then(|all| random.pick(all)) {
        model.nodes[id].op_type = (*other).into();
    }
}
