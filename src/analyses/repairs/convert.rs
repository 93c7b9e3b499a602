//! Conversion of a single node that is written for another opset than that of its model.
//!
//! The rules of `onnx-fix --opset` convert a model of the node alone, at the opset that the node is written for.

use std::sync::{Arc, LazyLock};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::analyses::LintContext;
use crate::analyses::detectors::RUNTIME_OPS;
use crate::diag::rule_ids::CONVERTED_NODE;
use crate::edit::{At, Change, Constants, Editor, Item, Patch, PatchNode, PatchOp, Site, initialize};
use crate::extract::{self, Cleanup, Target};
use crate::graph::{
    AttrValue, Attribute, Def, Id as _, Model, Node, NodeId, OpsetImport, Port, Tensor, TensorId, Value,
    ValueId, ValueInfo,
};
use crate::infer::{self, Declarer};
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Phase, Rule, Safety};
use crate::schema;

static RULES: LazyLock<RuleSet> = LazyLock::new(RuleSet::patterns);

/// Returns the opset that a node is written for, if it is not the one that its graph imports.
///
/// With `with_types`, also returns the opset of a node whose types are supported only at other opsets.
pub fn written_for(cx: &LintContext, id: NodeId, with_types: bool) -> Option<u16> {
    let node = &cx.model.nodes[id];
    let opset = u16::try_from(cx.model.opset(node.graph, node.domain())?).ok()?;
    // ONNX Runtime supports some operators in opsets in which ONNX does not define them.
    let is_of_runtime = RUNTIME_OPS.contains(&&*node.op_type)
        && schema::lookup(node.domain(), &node.op_type, opset).is_none();
    if cx.model.callee(id).is_some() || is_of_runtime {
        return None;
    }
    let ty = |value: ValueId| cx.facts[value].value_type().filter(|_| with_types);
    schema::with_use(node, ty, |op| schema::written_for(op, opset))
}

/// Returns the patch that converts a node to the opset of its graph; `None` if there is no conversion.
pub fn converted(cx: &LintContext, id: NodeId) -> Option<Patch> {
    let node = &cx.model.nodes[id];
    if !node.domain().is_empty() || node.graphs().next().is_some() {
        return None;
    }
    let opset = cx.model.opset(node.graph, "")?;
    let written = written_for(cx, id, false).or_else(|| written_for(cx, id, true))?;
    let single = Single::new(cx, id, i64::from(written));
    let model = rewritten(single.model, opset)?;
    spliced(cx, id, &model, &single.outer, opset)
}

/// Model that contains a single node of the source model.
struct Single {
    model: Model,
    /// For each input and output of `model`, the value of the source model that it represents.
    outer: FxHashMap<ValueId, ValueId>,
}

impl Single {
    fn new(cx: &LintContext, id: NodeId, opset: i64) -> Self {
        let source = &cx.model.nodes[id];
        let mut model = Model::new();
        model.ir_version = cx.model.ir_version;
        model.opsets = vec![OpsetImport { domain: None, version: Some(opset) }];
        let main = model.main;
        let mut inner: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        let mut declarer = Declarer::of(cx.model, source.graph, cx.facts);
        for &value in source.inputs.iter().flatten() {
            if inner.contains_key(&value) {
                continue;
            }
            let index = u32::try_from(model.graphs[main].inputs.len()).unwrap_or(u32::MAX);
            let name = cx.model.values[value].name.clone();
            let new = model.values.push(Value { name, graph: main, def: Def::Input(index), initial: None });
            inner.insert(value, new);
            if let Some(array) = cx.facts[value].as_const() {
                initialize(&mut model, main, new, infer::tensor_of(array));
                continue;
            }
            let mut port = Port { value, info: ValueInfo::default() };
            declarer.declare(&mut port);
            model.graphs[main].inputs.push(Port { value: new, ..port });
        }
        let node = NodeId::from_index(model.nodes.len());
        let mut outputs = Vec::new();
        for (output, value) in (0u32..).zip(&source.outputs) {
            outputs.push(value.map(|value| {
                let (name, def) = (cx.model.values[value].name.clone(), Def::Node { node, output });
                let new = model.values.push(Value { name, graph: main, def, initial: None });
                model.graphs[main].outputs.push(Port { value: new, info: ValueInfo::default() });
                inner.insert(value, new);
                new
            }));
        }
        let mut attrs = source.attrs.clone();
        for attr in &mut attrs {
            map_tensors(&mut attr.value, &mut |id| model.tensors.push(cx.model.tensors[id].clone()));
        }
        let inputs = source.inputs.iter().map(|input| input.map(|value| inner[&value])).collect();
        model.nodes.push(Node { inputs, outputs, attrs, ..Node::new(main, source.op_type.clone()) });
        model.graphs[main].nodes.push(node);
        Single { model, outer: inner.into_iter().map(|(outer, inner)| (inner, outer)).collect() }
    }
}

/// Converts a model to an opset; `None` if a node has no conversion.
fn rewritten(model: Model, opset: i64) -> Option<Model> {
    let imports = vec![OpsetImport { domain: None, version: Some(opset) }];
    let is_source = model.opsets == imports;
    let target = Target { is_source, imports: imports.clone(), profiles: Vec::new(), added: Vec::new() };
    let operators: FxHashSet<Arc<str>> = model.nodes.iter().map(|(_, node)| node.op_type.clone()).collect();
    let operators = operators.into_iter().chain([Arc::from("Cast")]).collect();
    let all: Vec<&Rule> = RULES.within_reach(operators, &[Phase::Convert], None);
    let is_allowed = |rule: &&Rule| rule.safety != Safety::Unsafe && !rule.is_for_a_runtime();
    let all: Vec<&Rule> = all.into_iter().filter(is_allowed).collect();
    let cleanup =
        Cleanup { folds_constants: true, merges_nodes: true, drops_outputs: true, drops_dead_nodes: true };
    let task =
        extract::Task { target: &target, simplify: &[], all: &all, pricing: None, explains: false, cleanup };
    let mut editor = Editor::new(model);
    editor.constants = Constants::Nodes;
    let main = editor.model().main;
    let view = editor.analyses();
    let done = extract::run(view.model, main, view.facts, view.uses, &task);
    if let extract::Done::Blocked(_) = done {
        return None;
    }
    if let extract::Done::Planned { patch, .. } = done {
        editor.apply(vec![*patch]);
    }
    editor.remove_dead_code();
    let (mut model, _) = editor.into_parts();
    model.opsets = imports;
    Some(model)
}

/// Returns the patch that replaces a node by the nodes of a converted model.
///
/// Returns `None` if a new node is not legal at the opset.
fn spliced(
    cx: &LintContext,
    id: NodeId,
    single: &Model,
    outer: &FxHashMap<ValueId, ValueId>,
    opset: i64,
) -> Option<Patch> {
    let source = &cx.model.nodes[id];
    let rule: Arc<str> = Arc::from(CONVERTED_NODE.code);
    let base = source
        .outputs
        .iter()
        .flatten()
        .next()
        .map_or(Arc::from("value"), |&v| cx.model.values[v].name.clone());
    let mut patch = Patch::new(source.graph);
    patch.first_tensor = cx.model.tensors.len();
    let mut items: FxHashMap<ValueId, Item<ValueId>> =
        outer.iter().map(|(&inner, &outer)| (inner, Item::Old(outer))).collect();
    let scope = &single.graphs[single.main];
    for &value in scope.initializers.iter().filter(|value| !outer.contains_key(value)) {
        let tensor = single.constant(value)?.clone();
        let item = patch.new_value(base.clone(), Some(rule.clone()));
        items.insert(value, item);
        let attrs = vec![Attribute::new("value", AttrValue::Tensor(added(&mut patch, tensor)))];
        let form = PatchOp::New { domain: Arc::from(""), op_type: Arc::from("Constant"), attrs };
        patch.nodes.push(new_node(form, Vec::new(), vec![Some(item)], id, &rule));
    }
    let version = u16::try_from(opset).ok()?;
    for &inner in &scope.nodes {
        let node = &single.nodes[inner];
        let is_legal = schema::with_use(node, |_| None, |op| schema::legal(op, version).is_ok());
        if !is_legal || node.graphs().next().is_some() {
            return None;
        }
        let mut outputs = Vec::new();
        for output in &node.outputs {
            outputs.push(output.map(|value| {
                *items.entry(value).or_insert_with(|| patch.new_value(base.clone(), Some(rule.clone())))
            }));
        }
        let inputs: Option<Vec<Option<Item<ValueId>>>> = node
            .inputs
            .iter()
            .map(|input| match input {
                Some(value) => items.get(value).copied().map(Some),
                None => Some(None),
            })
            .collect();
        let mut attrs = node.attrs.clone();
        for attr in &mut attrs {
            map_tensors(&mut attr.value, &mut |id| added(&mut patch, single.tensors[id].clone()));
        }
        let domain = Arc::from(node.domain());
        let form = PatchOp::New { domain, op_type: node.op_type.clone(), attrs };
        patch.nodes.push(new_node(form, inputs?, outputs, id, &rule));
    }
    patch.replaced.push(id);
    patch.keeps_values = false;
    let what = format!("`{}` converted to opset {opset}", source.op_name());
    patch.changes.push(Change::new(CONVERTED_NODE, Site::Node(id), what));
    patch.check(cx.model).is_ok().then_some(patch)
}

fn added(patch: &mut Patch, tensor: Tensor) -> TensorId {
    patch.tensors.push(Tensor { name: None, ..tensor });
    TensorId::from_index(patch.first_tensor + patch.tensors.len() - 1)
}

fn new_node(
    form: PatchOp,
    inputs: Vec<Option<Item<ValueId>>>,
    outputs: Vec<Option<Item<ValueId>>>,
    origin: NodeId,
    rule: &Arc<str>,
) -> PatchNode {
    PatchNode { form, inputs, outputs, at: At::Origin, origin: vec![origin], rule: Some(rule.clone()) }
}

/// Replaces the tensors of an attribute.
fn map_tensors(value: &mut AttrValue, f: &mut dyn FnMut(TensorId) -> TensorId) {
    match value {
        AttrValue::Tensor(id) => *id = f(*id),
        AttrValue::Tensors(ids) => ids.iter_mut().for_each(|id| *id = f(*id)),
        _ => {}
    }
}
