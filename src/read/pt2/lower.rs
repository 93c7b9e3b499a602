//! Converts the JSON of a program to a trace.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value as Json;

use super::Update;
use super::meta::{dict_keys, elem, module_path, root_class, source_line, tensor_type};
use super::schema::{Graph, Node as NodeJson, Program, Signature, TensorMeta};
use crate::torch::{
    Argument, Block, BlockId, Definition, Input, Node, NodeId, Op, Origin, SymbolRange, TensorType, Trace,
    Type, Value, ValueId,
};

/// Returns the trace of a program and the mutations of its inputs.
///
/// # Errors
/// The program is invalid; the reason is a clause for a message.
pub fn lower(program: &Program) -> Result<(Trace, Vec<Update>), String> {
    let module = &program.graph_module;
    let mut lowering = Lowering { trace: Trace::new(Origin::Export), names: FxHashMap::default() };
    lowering.graph(&module.graph, BlockId(0), 0)?;
    let Lowering { mut trace, .. } = lowering;
    let updates = apply_signature(&mut trace, &module.signature);
    let ranges = program.range_constraints.iter().map(|(symbol, range)| SymbolRange {
        symbol: Arc::from(&**symbol),
        min: range.min_val.as_i64(),
        max: range.max_val.as_i64(),
    });
    trace.ranges = ranges.collect();
    trace.class = module.graph.nodes.iter().find_map(root_class);
    let root_call = module.module_call_graph.iter().find(|call| call.fqn.is_empty());
    trace.output_keys =
        root_call.and_then(|call| dict_keys(&call.signature.as_ref()?.out_spec)).unwrap_or_default();
    trace.link_users();
    Ok((trace, updates))
}

/// Marks lifted inputs, removes all outputs but user outputs, and returns the mutations of inputs.
fn apply_signature(trace: &mut Trace, signature: &Signature) -> Vec<Update> {
    let inputs = trace.block(trace.body).inputs.clone();
    for (&input, spec) in inputs.iter().zip(&signature.input_specs) {
        if !spec.contains_key("user_input") {
            trace.values[input.index()].definition = Definition::Lifted;
        }
    }
    // A lifted tensor has a name in the module and a name in the program; other inputs have one name.
    let named = signature.input_specs.iter().flatten().filter_map(|(kind, fields)| {
        Some((fields.get(format!("{kind}_name"))?.as_str()?, input_name(fields)?))
    });
    let named: FxHashMap<&str, &str> = named.collect();
    let by_name = inputs.iter().map(|&input| (trace.value(input).name.clone(), input));
    let by_name: FxHashMap<Arc<str>, ValueId> = by_name.collect();
    let body = trace.body.index();
    let outputs = std::mem::take(&mut trace.blocks[body].outputs);
    let (mut returned, mut updates) = (Vec::new(), Vec::new());
    for (place, output) in outputs.into_iter().enumerate() {
        let spec = signature.output_specs.get(place).and_then(|spec| spec.iter().next());
        let Some((kind, fields)) = spec.filter(|(kind, _)| *kind != "user_output") else {
            returned.push(output);
            continue;
        };
        let target =
            kind.strip_suffix("_mutation").and_then(|kind| fields.get(format!("{kind}_name"))?.as_str());
        let target = target.map(|target| named.get(target).copied().unwrap_or(target));
        if let (Some(&input), Argument::Value(value)) = (target.and_then(|name| by_name.get(name)), output) {
            updates.push(Update { input, value });
        }
    }
    trace.blocks[body].outputs = returned;
    updates
}

/// Returns the names of the inputs that hold parameters and buffers, which persist between runs.
pub fn state(signature: &Signature) -> FxHashSet<String> {
    let specs = signature.input_specs.iter().flatten();
    let kept = specs.filter(|(kind, _)| matches!(kind.as_str(), "buffer" | "parameter"));
    kept.filter_map(|(_, fields)| input_name(fields).map(str::to_owned)).collect()
}

fn input_name(fields: &Json) -> Option<&str> {
    fields.get("arg")?.get("name")?.as_str()
}

struct Lowering {
    trace: Trace,
    /// Values visible in the current graph, by name.
    names: FxHashMap<Arc<str>, ValueId>,
}

/// Maximum nesting of graphs. `serde_json` limits the nesting of the text already.
const MAX_DEPTH: usize = 16;

impl Lowering {
    fn graph(&mut self, graph: &Graph, block: BlockId, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err("the control flow is nested too deeply".to_owned());
        }
        for (position, input) in graph.inputs.iter().enumerate() {
            let definition = Definition::Input(block, position as u32);
            let inputs = self.define(input, definition, &graph.tensor_values);
            self.trace.blocks[block.index()].inputs.extend(inputs);
        }
        for node in &graph.nodes {
            self.node(node, block, &graph.tensor_values, depth)?;
        }
        let outputs = graph.outputs.iter().map(|output| self.argument(output)).collect();
        self.trace.blocks[block.index()].outputs = outputs;
        Ok(())
    }

    fn node(
        &mut self,
        json: &NodeJson,
        block: BlockId,
        types: &BTreeMap<String, TensorMeta>,
        depth: usize,
    ) -> Result<(), String> {
        let id = NodeId(self.trace.nodes.len() as u32);
        let metadata = |key: &str| json.metadata.get(key).and_then(Json::as_str).unwrap_or("");
        let inputs = json.inputs.iter().map(|input| Input {
            name: (!input.name.is_empty()).then(|| Arc::from(&*input.name)),
            argument: self.argument(&input.arg),
        });
        let node = Node {
            op: Op::parse(&json.target),
            inputs: inputs.collect(),
            outputs: Vec::new(),
            attributes: Vec::new(),
            blocks: Vec::new(),
            block,
            source: source_line(metadata("stack_trace")),
            scope: module_path(metadata("nn_module_stack")),
            span: (0, 0),
            line: 0,
        };
        self.trace.nodes.push(node);
        self.trace.blocks[block.index()].nodes.push(id);
        for input in &json.inputs {
            if let Some(graph) = input.arg.get("as_graph").and_then(|arg| arg.get("graph")) {
                self.inner_graph(graph, id, depth)?;
            }
        }
        for output in &json.outputs {
            let position = self.trace.node(id).outputs.len() as u32;
            let outputs = self.define(output, Definition::Node(id, position), types);
            self.trace.nodes[id.index()].outputs.extend(outputs);
        }
        Ok(())
    }

    /// Converts a subgraph of `cond`, `while_loop` or similar. A subgraph captures no outer values.
    fn inner_graph(&mut self, json: &Json, owner: NodeId, depth: usize) -> Result<(), String> {
        let graph: Graph = serde::Deserialize::deserialize(json)
            .map_err(|error| format!("a subgraph is invalid: {error}"))?;
        let block = BlockId(self.trace.blocks.len() as u32);
        self.trace.blocks.push(Block { owner: Some(owner), ..Block::default() });
        self.trace.nodes[owner.index()].blocks.push(block);
        let outer = std::mem::take(&mut self.names);
        let result = self.graph(&graph, block, depth + 1);
        self.names = outer;
        result
    }

    /// Defines the values that an input or a node output names: one value, or the members of a list.
    fn define(
        &mut self,
        json: &Json,
        definition: Definition,
        types: &BTreeMap<String, TensorMeta>,
    ) -> Vec<ValueId> {
        let Some((kind, content)) = only_entry(json) else { return Vec::new() };
        let single = |ty: fn() -> Type| (content.get("as_name").or_else(|| content.get("name")), ty);
        let (name, ty) = match kind {
            "as_tensors" | "as_optional_tensors" => {
                let members = content.as_array().map(Vec::as_slice).unwrap_or_default();
                return members
                    .iter()
                    .filter_map(|member| {
                        let name = member.get("as_tensor").unwrap_or(member).get("name")?.as_str()?;
                        Some(self.define_one(name, None, definition, types))
                    })
                    .collect();
            }
            "as_sym_int" | "as_int" => single(|| Type::Int),
            "as_sym_float" | "as_float" => single(|| Type::Float),
            "as_sym_bool" | "as_bool" => single(|| Type::Bool),
            _ => single(|| Type::Tensor(TensorType::default())),
        };
        let Some(name) = name.and_then(Json::as_str) else { return Vec::new() };
        vec![self.define_one(name, Some(ty()), definition, types)]
    }

    fn define_one(
        &mut self,
        name: &str,
        ty: Option<Type>,
        definition: Definition,
        types: &BTreeMap<String, TensorMeta>,
    ) -> ValueId {
        let id = ValueId(self.trace.values.len() as u32);
        let name: Arc<str> = Arc::from(name);
        let declared = types.get(&*name).map(|meta| Type::Tensor(tensor_type(meta)));
        let ty = declared.or(ty).unwrap_or(Type::Tensor(TensorType::default()));
        self.trace.values.push(Value {
            name: name.clone(),
            ty,
            definition,
            literal: None,
            users: Vec::new(),
        });
        self.names.insert(name, id);
        id
    }

    fn lookup(&mut self, name: &str) -> Argument {
        let known = self.names.get(name).copied();
        Argument::Value(
            known.unwrap_or_else(|| self.define_one(name, None, Definition::Missing, &BTreeMap::new())),
        )
    }

    /// Converts an argument; its only key is its kind.
    fn argument(&mut self, json: &Json) -> Argument {
        let Some((kind, content)) = only_entry(json) else { return Argument::None };
        match (kind, content) {
            ("as_none", _) => Argument::None,
            ("as_int", Json::Number(number)) => number.as_i64().map_or(Argument::None, Argument::Int),
            ("as_float", _) => float(content).map_or(Argument::None, Argument::Float),
            ("as_complex", Json::Object(parts)) => {
                let part = |name: &str| float(parts.get(name)?);
                let both = part("real").zip(part("imag"));
                both.map_or(Argument::None, |(real, imaginary)| Argument::Complex(real, imaginary))
            }
            ("as_bool", Json::Bool(bool)) => Argument::Bool(*bool),
            ("as_scalar_type", Json::Number(number)) => {
                let elem = number.as_u64().and_then(|number| elem(u32::try_from(number).ok()?));
                elem.map_or_else(|| Argument::Other(Arc::from(content.to_string())), Argument::Elem)
            }
            ("as_string", Json::String(text)) => Argument::Str(Arc::from(&**text)),
            (_, Json::Array(members)) => {
                Argument::List(members.iter().map(|member| self.member(member)).collect())
            }
            ("as_tensor" | "as_optional_tensor", Json::Object(tensor)) => {
                match tensor.get("name").or_else(|| tensor.get("as_tensor")?.get("name")) {
                    Some(Json::String(name)) => self.lookup(name),
                    _ => Argument::None,
                }
            }
            ("as_sym_int" | "as_sym_float" | "as_sym_bool", Json::Object(_)) => self.member(content),
            (_, other) => Argument::Other(Arc::from(other.to_string())),
        }
    }

    /// Converts a list member: a number, `{"name": …}`, `{"as_name": …}`, or an argument with its kind.
    fn member(&mut self, json: &Json) -> Argument {
        let name = json.get("as_name").or_else(|| json.get("name"));
        match (json, name) {
            (_, Some(Json::String(name))) => self.lookup(name),
            (Json::Number(number), _) => number
                .as_i64()
                .map(Argument::Int)
                .or(number.as_f64().map(Argument::Float))
                .unwrap_or(Argument::None),
            (Json::Bool(bool), _) => Argument::Bool(*bool),
            (Json::String(text), _) => Argument::Str(Arc::from(&**text)),
            (Json::Array(members), _) => {
                Argument::List(members.iter().map(|member| self.member(member)).collect())
            }
            _ => self.argument(json),
        }
    }
}

/// Returns a float, which is a number or a word such as `Infinity`.
fn float(json: &Json) -> Option<f64> {
    match json {
        Json::Number(number) => number.as_f64(),
        Json::String(word) => word.parse().ok(),
        _ => None,
    }
}

fn only_entry(json: &Json) -> Option<(&str, &Json)> {
    let (kind, content) = json.as_object()?.iter().next()?;
    Some((kind, content))
}
