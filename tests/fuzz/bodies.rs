//! Draws nodes with subgraphs, calls of local functions, sequences and optionals.

use onnx_lint::graph::{
    AttrValue, Attribute, DeclaredDim, Def, Function, Graph, GraphId, NodeId, OpsetImport, Owner, Port,
    TypeKind, ValueId, ValueInfo,
};
use onnx_lint::infer::eval::{Array, Val};
use onnx_lint::infer::execute::{Executor, Limits};

use crate::draft::{Draft, tensor_type};
use crate::fill::Fill;
use crate::graph::grow;

/// The first opset whose IR version has local functions.
const FUNCTIONS_SINCE: u16 = 15;

/// Adds one node with a subgraph, a call, a sequence or an optional.
pub fn draw(draft: &mut Draft) -> Option<()> {
    match draft.random.below(8) {
        0..=2 => branch(draft),
        3 | 4 => repeat(draft),
        5 if draft.opset >= 9 => scan(draft),
        6 if draft.opset >= FUNCTIONS_SINCE && draft.scopes.len() == 1 => call(draft),
        7 if draft.opset >= 11 => list(draft),
        _ => None,
    }
}

fn flag(value: bool) -> Option<Array> {
    Array::bools(Vec::new(), vec![value]).ok()
}

/// Adds a node without outputs, which will own the subgraphs that are drawn next.
fn holder(draft: &mut Draft, op: &str, inputs: Vec<Option<ValueId>>) -> NodeId {
    draft.node("", op, inputs, Vec::new(), Vec::new());
    let graph = draft.graph();
    draft.case.model.graphs[graph].nodes.last().copied().expect("a node was just added")
}

/// Draws a subgraph with these inputs; the function `outputs` selects the outputs of the subgraph.
fn body(
    draft: &mut Draft,
    owner: Owner,
    inputs: Vec<Val>,
    outputs: impl FnOnce(&mut Draft, &[ValueId]) -> Option<Vec<ValueId>>,
) -> Option<GraphId> {
    let graph = draft.case.model.graphs.push(Graph::new(owner));
    draft.case.model.graphs[graph].name = Some("b".into());
    draft.scopes.push((graph, Vec::new()));
    let is_function = matches!(owner, Owner::Function(_));
    let mut given = Vec::new();
    for (at, val) in inputs.into_iter().enumerate() {
        let ty = port_type(&val);
        let value = draft.value(graph, Def::Input(at as u32), Some(val));
        let info = ValueInfo { ty: ty.filter(|_| !is_function), ..ValueInfo::default() };
        draft.case.model.graphs[graph].inputs.push(Port { value, info });
        given.push(value);
    }
    let nodes = 1 + draft.random.below(3);
    grow(draft, nodes);
    let chosen = outputs(draft, &given);
    let ports = chosen.map(|values| {
        let ports = values.into_iter().map(|value| {
            let ty = draft.values.get(&value).and_then(port_type).filter(|_| !is_function);
            Port { value, info: ValueInfo { ty, ..ValueInfo::default() } }
        });
        ports.collect::<Vec<_>>()
    });
    draft.scopes.pop();
    draft.case.model.graphs[graph].outputs = ports?;
    Some(graph)
}

/// Returns the type of a value; a tensor type has the rank, but no sizes.
fn port_type(val: &Val) -> Option<onnx_lint::graph::Type> {
    match val {
        Val::Tensor(array) => Some(tensor_type(array.elem(), Some(vec![DeclaredDim::Absent; array.rank()]))),
        Val::Sequence(_) => {
            let first = match val {
                Val::Sequence(items) => items.first().and_then(port_type),
                _ => None,
            };
            Some(TypeKind::Sequence(first.map(Box::new)).into())
        }
        _ => None,
    }
}

/// Computes a node with subgraphs and adds its outputs. Removes the node if it cannot be computed.
fn conclude(
    draft: &mut Draft,
    node: NodeId,
    bodies: Option<Vec<(&str, GraphId)>>,
    outputs: usize,
) -> Option<()> {
    let graph = draft.graph();
    let made = bodies.and_then(|bodies| {
        for (name, body) in bodies {
            draft.case.model.nodes[node].attrs.push(Attribute::new(name, AttrValue::Graph(body)));
        }
        let mut holes = Vec::new();
        for at in 0..outputs {
            let value = draft.case.model.values.push(onnx_lint::graph::Value {
                name: format!("v{}", draft.case.model.values.len()).into(),
                graph,
                def: Def::Node { node, output: at as u32 },
                initial: None,
            });
            holes.push(value);
        }
        draft.case.model.nodes[node].outputs = holes.iter().copied().map(Some).collect();
        let mut executor = Executor::new(&draft.case.model, Limits { bytes: 1 << 16, work: 1 << 18 });
        for value in draft.visible() {
            executor.give(value, draft.values.get(&value)?.clone());
        }
        executor.run(node).ok()?;
        let made: Option<Vec<Val>> = holes.iter().map(|value| executor.value(*value)).collect();
        Some(holes.into_iter().zip(made?).collect::<Vec<_>>())
    });
    let Some(made) = made else {
        draft.case.model.graphs[graph].nodes.retain(|other| *other != node);
        return None;
    };
    let scope = draft.scopes.last_mut()?;
    for (value, val) in made {
        draft.values.insert(value, val);
        scope.1.push(value);
    }
    Some(())
}

fn branch(draft: &mut Draft) -> Option<()> {
    let condition = flag(draft.random.once_in(2))?;
    let condition = match draft.random.once_in(3) {
        true => draft.constant(condition),
        false => draft.given(condition, Fill::Any),
    };
    let node = holder(draft, "If", vec![Some(condition)]);
    let mut types = Vec::new();
    let then = body(draft, Owner::Node(node), Vec::new(), |draft, _| {
        let tensors = own_tensors(draft);
        let (value, array) = draft.random.pick(&tensors)?.clone();
        types.push((array.elem(), array.shape().to_vec()));
        Some(vec![value])
    });
    let otherwise = then.and_then(|_| {
        let (elem, shape) = types[0].clone();
        // Before opset 11, runtimes reject branches with different known shapes.
        let is_old = draft.opset < 11;
        body(draft, Owner::Node(node), Vec::new(), |draft, _| {
            let mut tensors = own_tensors(draft);
            tensors.retain(|(_, array)| array.elem() == elem);
            let is_alike = |array: &Array| match is_old {
                true => *array.shape() == *shape,
                false => array.rank() == shape.len(),
            };
            let same: Vec<_> = tensors.iter().filter(|(_, array)| is_alike(array)).cloned().collect();
            let pool = if same.is_empty() && !is_old { tensors } else { same };
            if let Some((value, _)) = draft.random.pick(&pool) {
                return Some(vec![*value]);
            }
            let fresh = if is_old { shape } else { vec![2; shape.len()] };
            let fresh = crate::fill::array(elem, &fresh, &Fill::Any, &mut draft.random)?;
            Some(vec![draft.constant(fresh)])
        })
    });
    let bodies = then.zip(otherwise).map(|(then, other)| vec![("then_branch", then), ("else_branch", other)]);
    conclude(draft, node, bodies, 1)
}

/// Returns the tensors that the current graph defines, without its inputs.
fn own_tensors(draft: &Draft) -> Vec<(ValueId, std::sync::Arc<Array>)> {
    let graph = draft.graph();
    let mut tensors = draft.tensors();
    tensors.retain(|(value, _)| {
        let value = &draft.case.model.values[*value];
        value.graph == graph && !matches!(value.def, Def::Input(_))
    });
    tensors
}

/// Returns a value of the subgraph to be the next value of a loop state, with equal type and shape.
///
/// If the subgraph has no value of this type and shape, returns the output of a new `Identity` of the state.
fn next(draft: &mut Draft, state: ValueId) -> Option<ValueId> {
    let Some(Val::Tensor(before)) = draft.values.get(&state).cloned() else { return None };
    let mut tensors = own_tensors(draft);
    tensors.retain(|(_, array)| array.elem() == before.elem() && array.shape() == before.shape());
    let chosen = draft.random.pick(&tensors).map(|(value, _)| *value);
    chosen.or_else(|| {
        let graph = draft.graph();
        let val = draft.values.get(&state).cloned();
        let made = draft.node("", "Identity", vec![Some(state)], Vec::new(), vec![val]);
        draft.case.model.values[made[0]].graph = graph;
        Some(made[0])
    })
}

fn repeat(draft: &mut Draft) -> Option<()> {
    let tensors = draft.tensors();
    let (state, array) = draft.random.pick(&tensors)?.clone();
    let rounds = Array::i64s(Vec::new(), vec![draft.random.between(0, 3)]).ok()?;
    let rounds = match draft.random.once_in(2) {
        true => draft.constant(rounds),
        false => draft.given(rounds, Fill::UpTo(3)),
    };
    let node = holder(draft, "Loop", vec![Some(rounds), None, Some(state)]);
    let inputs = vec![Array::i64s(Vec::new(), vec![0]).ok()?.into(), flag(true)?.into(), Val::Tensor(array)];
    let mut scans = 0;
    let made = body(draft, Owner::Node(node), inputs, |draft, given| {
        let goes_on = next(draft, given[1])?;
        let state = next(draft, given[2])?;
        let tensors = own_tensors(draft);
        let mut outputs = vec![goes_on, state];
        if draft.random.once_in(2)
            && let Some((value, _)) =
                draft.random.pick(&tensors).filter(|(value, _)| !outputs.contains(value))
        {
            outputs.push(*value);
            scans += 1;
        }
        Some(outputs)
    });
    conclude(draft, node, made.map(|body| vec![("body", body)]), 1 + scans)
}

fn scan(draft: &mut Draft) -> Option<()> {
    let tensors = draft.tensors();
    let whole: Vec<_> = tensors
        .iter()
        .filter(|(_, array)| array.shape().first().is_some_and(|&size| size > 0))
        .cloned()
        .collect();
    let (state, before) = draft.random.pick(&tensors)?.clone();
    let (scanned, all) = draft.random.pick(&whole)?.clone();
    let size: usize = all.shape()[1..].iter().product();
    let slice = all.take(all.shape()[1..].to_vec(), &(0..size).collect::<Vec<_>>()).ok()?;
    let node = holder(draft, "Scan", vec![Some(state), Some(scanned)]);
    draft.case.model.nodes[node].attrs.push(Attribute::new("num_scan_inputs", AttrValue::Int(1)));
    let made = body(draft, Owner::Node(node), vec![Val::Tensor(before), slice.into()], |draft, given| {
        let state = next(draft, given[0])?;
        let tensors = own_tensors(draft);
        // ONNX Runtime leaves one output unset if a subgraph lists a value twice.
        let (value, _) = draft.random.pick(&tensors).filter(|(value, _)| *value != state)?;
        Some(vec![state, *value])
    });
    conclude(draft, node, made.map(|body| vec![("body", body)]), 2)
}

/// Draws a local function with one or two outputs, and a call of it.
fn call(draft: &mut Draft) -> Option<()> {
    let tensors = draft.tensors();
    let (first, array) = draft.random.pick(&tensors)?.clone();
    let (second, other) = draft.random.pick(&tensors)?.clone();
    let index = draft.case.model.functions.len();
    let model = &mut draft.case.model;
    let name = format!("f{index}");
    let opsets =
        model.opsets.iter().filter(|import| import.domain.as_deref() != Some("local")).cloned().collect();
    model.functions.push(Function {
        name: Some(name.as_str().into()),
        domain: Some("local".into()),
        overload: None,
        // The body of the function is drawn next.
        body: model.main,
        attributes: Vec::new(),
        attribute_defaults: Vec::new(),
        opsets,
    });
    let outer = std::mem::take(&mut draft.scopes);
    let mut count = 1;
    let made =
        body(draft, Owner::Function(index), vec![Val::Tensor(array), Val::Tensor(other)], |draft, _| {
            let tensors = own_tensors(draft);
            let (value, _) = draft.random.pick(&tensors)?;
            let mut outputs = vec![*value];
            if let Some((value, _)) = draft.random.pick(&tensors).filter(|(other, _)| other != value) {
                outputs.push(*value);
                count = 2;
            }
            Some(outputs)
        });
    draft.scopes = outer;
    let Some(body) = made else {
        draft.case.model.functions.pop();
        return None;
    };
    let reference = reference(draft, body);
    let model = &mut draft.case.model;
    model.functions[index].body = body;
    model.functions[index].attributes = reference.iter().map(|attr| attr.name.clone()).collect();
    if model.opsets.iter().all(|import| import.domain.as_deref() != Some("local")) {
        model.opsets.push(OpsetImport { domain: Some("local".into()), version: Some(1) });
    }
    let node = holder(draft, &name, vec![Some(first), Some(second)]);
    draft.case.model.nodes[node].domain = Some("local".into());
    draft.case.model.nodes[node].attrs.extend(reference);
    conclude(draft, node, Some(Vec::new()), count)
}

/// Turns an attribute of a node into a reference to a function attribute.
/// Returns the attribute that a call of the function must have.
fn reference(draft: &mut Draft, body: GraphId) -> Option<Attribute> {
    let nodes = draft.case.model.graphs[body].nodes.clone();
    let &node = draft.random.pick(&nodes)?;
    let attrs = &mut draft.case.model.nodes[node].attrs;
    let at = attrs.iter().position(|attr| matches!(attr.value, AttrValue::Int(_) | AttrValue::Ints(_)))?;
    let kind = attrs[at].value.kind();
    let value = std::mem::replace(&mut attrs[at].value, AttrValue::Ref { name: "a".into(), kind });
    Some(Attribute::new("a", value))
}

/// Draws a sequence of some tensors of one type, or an optional.
fn list(draft: &mut Draft) -> Option<()> {
    let tensors = draft.tensors();
    let (value, array) = draft.random.pick(&tensors)?.clone();
    if draft.opset >= 15 && draft.random.once_in(3) {
        let val = Val::Optional(Some(Box::new(Val::Tensor(array))));
        draft.node("", "Optional", vec![Some(value)], Vec::new(), vec![Some(val)]);
        return Some(());
    }
    let alike: Vec<_> = tensors.iter().filter(|(_, other)| other.elem() == array.elem()).collect();
    let mut inputs = vec![Some(value)];
    let mut items = vec![Val::Tensor(array.clone())];
    for _ in 0..draft.random.below(3) {
        let (value, array) = *draft.random.pick(&alike)?;
        inputs.push(Some(*value));
        items.push(Val::Tensor(array.clone()));
    }
    draft.node("", "SequenceConstruct", inputs, Vec::new(), vec![Some(Val::Sequence(items))]);
    Some(())
}
