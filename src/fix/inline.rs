//! Writes out the calls of local functions, for versions that have none.

use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::extract::Names;
use crate::graph::{
    AttrValue, Attribute, Def, Graph, GraphId, Model, Node, NodeId, OpsetImport, Owner, Port, Value, ValueId,
    normal_domain, scopes,
};

/// Calls within calls can multiply without end; a model of more nodes than this is refused.
const MAX_NODES: usize = 1 << 20;

/// Puts the body of each local function in the place of its calls, at whatever depth, and leaves the model
/// without functions.
///
/// # Errors
/// A function calls itself, means another opset than the model, or the result would be enormous.
pub fn inline(model: &mut Model) -> Result<(), Hindrance> {
    unite_imports(model)?;
    if written_out(model)? > MAX_NODES {
        return Err(Hindrance::Size);
    }
    let mut inliner = Inliner { names: Names::of(model), model };
    // Without recursion, no chain of calls is longer than there are functions.
    for _ in 0..=inliner.model.functions.len() {
        if !inliner.round()? {
            drop_functions(model);
            return Ok(());
        }
    }
    Err(Hindrance::Recursion)
}

/// How many nodes the model has when every call is written out, found without doing so.
fn written_out(model: &Model) -> Result<usize, Hindrance> {
    let contents = |root: GraphId| {
        let graphs = scopes::nested(model, root);
        let nodes = graphs.iter().flat_map(|&graph| &model.graphs[graph].nodes);
        let (calls, plain): (Vec<_>, Vec<_>) =
            nodes.map(|&node| model.callee(node)).partition(Option::is_some);
        (plain.len(), calls.into_iter().flatten().collect::<Vec<usize>>())
    };
    let functions: Vec<(usize, Vec<usize>)> =
        model.functions.iter().map(|function| contents(function.body)).collect();
    let mut sizes: Vec<Option<usize>> = vec![None; functions.len()];
    let mut is_open = vec![false; functions.len()];
    let main = contents(model.main);
    let total = |(own, calls): &(usize, Vec<usize>), sizes: &[Option<usize>]| {
        calls.iter().fold(*own, |sum, &callee| sum.saturating_add(sizes[callee].unwrap_or(0)))
    };
    // Without recursion: chains of calls are long.
    let mut open = main.1.clone();
    while let Some(&function) = open.last() {
        if sizes[function].is_some() {
            open.pop();
            continue;
        }
        let calls = functions[function].1.iter().copied();
        let mut waits: Vec<usize> = calls.filter(|&callee| sizes[callee].is_none()).collect();
        waits.sort_unstable();
        waits.dedup();
        if waits.iter().any(|&callee| is_open[callee] || callee == function) {
            return Err(Hindrance::Recursion);
        }
        if waits.is_empty() {
            sizes[function] = Some(total(&functions[function], &sizes));
            is_open[function] = false;
            open.pop();
        } else {
            is_open[function] = true;
            open.extend(waits);
        }
    }
    Ok(total(&main, &sizes))
}

/// Leaves nothing of the functions but empty graphs, which nothing refers to.
fn drop_functions(model: &mut Model) {
    for function in std::mem::take(&mut model.functions) {
        for graph in scopes::nested(model, function.body) {
            model.graphs[graph] = Graph::new(Owner::Model);
        }
    }
}

/// Why the functions of a model cannot be written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hindrance {
    Recursion,
    OtherOpset,
    Size,
}

impl fmt::Display for Hindrance {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Hindrance::Recursion => "one calls itself",
            Hindrance::OtherOpset => "one is written for another opset than the model",
            Hindrance::Size => "written out, they make more than a million nodes",
        })
    }
}

/// Gives the model the imports of its functions.
fn unite_imports(model: &mut Model) -> Result<(), Hindrance> {
    let domain = |import: &OpsetImport| normal_domain(import.domain.as_deref()).to_owned();
    let imports: Vec<OpsetImport> =
        model.functions.iter().flat_map(|function| function.opsets.iter().cloned()).collect();
    for import in imports {
        match model.opsets.iter().find(|own| domain(own) == domain(&import)) {
            Some(own) if own.version != import.version => {
                return Err(Hindrance::OtherOpset);
            }
            Some(_) => {}
            None => model.opsets.push(import),
        }
    }
    Ok(())
}

struct Inliner<'m> {
    model: &'m mut Model,
    names: Names,
}

impl Inliner<'_> {
    /// Writes out every call that stands in the model now; whether there was one.
    fn round(&mut self) -> Result<bool, Hindrance> {
        let mut found = false;
        for graph in scopes::nested(self.model, self.model.main) {
            let before = std::mem::take(&mut self.model.graphs[graph].nodes);
            let mut after = Vec::with_capacity(before.len());
            for node in before {
                match self.model.callee(node) {
                    Some(function) => {
                        found = true;
                        after.extend(self.expand(node, function));
                    }
                    None => after.push(node),
                }
                if self.model.nodes.len() > MAX_NODES {
                    return Err(Hindrance::Size);
                }
            }
            self.model.graphs[graph].nodes = after;
        }
        Ok(found)
    }

    /// The nodes that do what a call does.
    fn expand(&mut self, call: NodeId, function: usize) -> Vec<NodeId> {
        let caller = self.model.nodes[call].clone();
        let function = self.model.functions[function].clone();
        let body = self.model.graphs[function.body].clone();
        let mut copy =
            Copy { call: &caller, defaults: &function.attribute_defaults, values: FxHashMap::default() };
        for (index, port) in body.inputs.iter().enumerate() {
            copy.values.insert(port.value, caller.input(index));
        }
        let mut passed_on = Vec::new();
        for (index, port) in body.outputs.iter().enumerate() {
            let Some(output) = caller.output(index) else { continue };
            match copy.values.entry(port.value) {
                Entry::Occupied(_) => passed_on.push((port.value, output)),
                Entry::Vacant(unnamed) => _ = unnamed.insert(Some(output)),
            }
        }
        let mut nodes = self.nodes(&mut copy, &body.nodes, caller.graph);
        for (inner, output) in passed_on {
            nodes.push(self.identity(&caller, copy.value(inner), output));
        }
        nodes
    }

    /// An output of the function that is an input, or a second output, under the name that the caller
    /// gives it.
    fn identity(&mut self, caller: &Node, from: Option<ValueId>, to: ValueId) -> NodeId {
        let node = Node {
            domain: None,
            op_type: Arc::from("Identity"),
            overload: None,
            inputs: vec![from],
            outputs: vec![Some(to)],
            attrs: Vec::new(),
            name: None,
            ..caller.clone()
        };
        self.push(node)
    }

    fn push(&mut self, node: Node) -> NodeId {
        let outputs = node.outputs.clone();
        let id = self.model.nodes.push(node);
        for (index, output) in outputs.into_iter().enumerate() {
            if let Some(output) = output {
                self.model.values[output].def = Def::Node { node: id, output: index as u32 };
            }
        }
        id
    }

    /// Copies of nodes, which may stand in any order.
    fn nodes(&mut self, copy: &mut Copy, nodes: &[NodeId], graph: GraphId) -> Vec<NodeId> {
        for &node in nodes {
            for output in self.model.nodes[node].outputs.clone().into_iter().flatten() {
                self.value(copy, output, graph);
            }
        }
        nodes.iter().map(|&node| self.node(copy, node, graph)).collect()
    }

    fn node(&mut self, copy: &mut Copy, node: NodeId, graph: GraphId) -> NodeId {
        let old = self.model.nodes[node].clone();
        let inputs = old.inputs.iter().map(|input| input.and_then(|input| copy.value(input))).collect();
        let outputs = old.outputs.iter().map(|output| Some(self.value(copy, (*output)?, graph))).collect();
        let name = old.name.as_ref().filter(|name| !name.is_empty());
        let name = name.map(|name| self.names.fresh(name, None));
        let mut metadata = old.metadata.clone();
        for (key, value) in &copy.call.metadata {
            if !metadata.iter().any(|(known, _)| known == key) {
                metadata.push((key.clone(), value.clone()));
            }
        }
        let doc = old.doc.clone().or_else(|| copy.call.doc.clone());
        let attrs = Vec::new();
        let id = self.push(Node { graph, inputs, outputs, name, metadata, doc, attrs, ..old.clone() });
        let attrs = old.attrs.iter().filter_map(|attr| copy.resolve(attr));
        let attrs: Vec<Attribute> = attrs.collect();
        self.model.nodes[id].attrs = attrs.into_iter().map(|attr| self.attribute(copy, attr, id)).collect();
        id
    }

    /// The copy of a value that a function defines.
    fn value(&mut self, copy: &mut Copy, value: ValueId, graph: GraphId) -> ValueId {
        if let Some(&Some(known)) = copy.values.get(&value) {
            return known;
        }
        let old = &self.model.values[value];
        let (name, initial) = (old.name.clone(), old.initial.clone());
        let name = self.names.fresh(&name, None);
        let new = self.model.values.push(Value { name, graph, def: Def::Missing, initial });
        copy.values.insert(value, Some(new));
        new
    }

    /// An attribute whose bodies are copies.
    fn attribute(&mut self, copy: &mut Copy, attr: Attribute, owner: NodeId) -> Attribute {
        let value = match &attr.value {
            AttrValue::Graph(body) => AttrValue::Graph(self.graph(copy, *body, owner)),
            AttrValue::Graphs(bodies) => {
                AttrValue::Graphs(bodies.iter().map(|&body| self.graph(copy, body, owner)).collect())
            }
            _ => return attr,
        };
        Attribute { value, ..attr }
    }

    /// Recurses over the nesting of bodies, whose depth reading limits.
    fn graph(&mut self, copy: &mut Copy, body: GraphId, owner: NodeId) -> GraphId {
        let old = self.model.graphs[body].clone();
        let id = self.model.graphs.push(Graph { owner: Owner::Node(owner), ..old.clone() });
        let mut own = |this: &mut Self, values: Vec<ValueId>| -> Vec<ValueId> {
            values.into_iter().map(|value| this.value(copy, value, id)).collect()
        };
        let values = |ports: &[Port]| ports.iter().map(|port| port.value).collect::<Vec<_>>();
        let inputs = own(self, values(&old.inputs));
        for (index, &input) in inputs.iter().enumerate() {
            self.model.values[input].def = Def::Input(index as u32);
        }
        let initializers = own(self, old.initializers.clone());
        let sparse_initializers = own(self, old.sparse_initializers.clone());
        for &value in initializers.iter().chain(&sparse_initializers).filter(|value| !inputs.contains(value))
        {
            self.model.values[value].def = Def::Initializer;
        }
        let nodes = self.nodes(copy, &old.nodes, id);
        let ports = |values: Vec<ValueId>, ports: &[Port]| -> Vec<Port> {
            let infos = ports.iter().map(|port| port.info.clone());
            values.into_iter().zip(infos).map(|(value, info)| Port { value, info }).collect()
        };
        let outputs: Vec<ValueId> =
            old.outputs.iter().map(|port| copy.value(port.value).unwrap_or(port.value)).collect();
        let graph = &mut self.model.graphs[id];
        graph.inputs = ports(inputs, &old.inputs);
        graph.outputs = ports(outputs, &old.outputs);
        graph.nodes = nodes;
        graph.initializers = initializers;
        graph.sparse_initializers = sparse_initializers;
        graph.value_info.clear();
        graph.quantization.clear();
        id
    }
}

/// One copy of a body: what its values are in the graph of the caller.
struct Copy<'a> {
    call: &'a Node,
    defaults: &'a [Attribute],
    /// `None`: an input that the caller leaves out.
    values: FxHashMap<ValueId, Option<ValueId>>,
}

impl Copy<'_> {
    fn value(&self, value: ValueId) -> Option<ValueId> {
        self.values.get(&value).copied().unwrap_or(Some(value))
    }

    /// An attribute of a node of the body as the call has it; `None` where it stands for one that the call
    /// leaves out and that has no default.
    fn resolve(&self, attr: &Attribute) -> Option<Attribute> {
        let AttrValue::Ref { name, .. } = &attr.value else { return Some(attr.clone()) };
        let mut given = self.call.attrs.iter().chain(self.defaults);
        let value = given.find(|given| given.name == *name)?.value.clone();
        Some(Attribute { value, ..attr.clone() })
    }
}
