//! Reduces a model with a fault, and finds the rule that causes it.

use onnx_lint::graph::{
    DeclaredDim, Def, GraphId, Initial, Model, NodeId, Port, Value, ValueId, ValueInfo, scopes,
};
use onnx_lint::infer;
use onnx_lint::infer::eval::Val;
use rustc_hash::FxHashSet;

use crate::case::run;
use crate::check::{Before, Fault, Kind, Rules, Way, applied, check, errors, reread};
use crate::draft::tensor_type;
use crate::judge;

/// A model with a fault, and the runs that show it.
pub struct Shown {
    pub model: Model,
    pub runs: Vec<Before>,
    /// The transformation that causes the fault.
    pub way: Way,
    pub fault: Fault,
}

/// Maximum number of reduction steps to try.
const MAX_TRIES: usize = 600;

impl Shown {
    /// Returns `model` as the new state if it is smaller and has a fault of the same kind.
    fn instead(&self, model: &Model, feeds: Option<(&str, Val)>, rules: &Rules) -> Option<Shown> {
        let model = reread(&tidied(model)?)?;
        if weight(&model) >= weight(&self.model) || !errors(&model).is_empty() {
            return None;
        }
        let mut runs = Vec::new();
        for before in &self.runs {
            let mut given = before.feeds.clone();
            if let Some((name, val)) = &feeds {
                given.insert((*name).into(), val.clone());
            }
            let ran = run(&model, &given).ok()?;
            runs.push(Before::new(given, before.sizes, before.is_traced, ran));
        }
        judge::ask(&model, &mut runs);
        let fault = check(&model, &runs, &self.way, rules.of(&self.way)).err()?;
        (fault.kind == self.fault.kind && fault.about() == self.fault.about()).then_some(Shown {
            model,
            runs,
            way: self.way.clone(),
            fault,
        })
    }

    /// Keeps one run that shows the fault.
    fn one_run(mut self, rules: &Rules) -> Shown {
        if matches!(self.fault.kind, Kind::Invalid | Kind::Panics | Kind::Unstable) {
            self.runs.truncate(1);
            return self;
        }
        let shows = |before: &Before| {
            let alone = std::slice::from_ref(before);
            check(&self.model, alone, &self.way, rules.of(&self.way))
                .err()
                .is_some_and(|f| f.kind == self.fault.kind)
        };
        if let Some(at) = self.runs.iter().position(shows) {
            self.runs = vec![self.runs.swap_remove(at)];
        }
        self
    }

    /// Reduces the model step by step.
    pub fn reduced(self, rules: &Rules) -> Shown {
        let mut shown = self.one_run(rules);
        let (mut at, mut failed) = (0, 0);
        for _ in 0..MAX_TRIES {
            let mut all = candidates(&shown);
            if failed >= all.len() {
                break;
            }
            // Continue with the next candidate: earlier ones will mostly fail again.
            at %= all.len();
            let (model, fed) = all.swap_remove(at);
            let mut without = model.clone();
            remove_dead_code(&mut without);
            let instead =
                |model| shown.instead(model, fed.as_ref().map(|(name, val)| (&**name, val.clone())), rules);
            match instead(&without).or_else(|| instead(&model)) {
                Some(smaller) => (shown, failed) = (smaller, 0),
                None => (at, failed) = (at + 1, failed + 1),
            }
        }
        shown
    }

    /// Returns the rules whose removal, each alone, fixes the fault.
    /// If no rule alone causes the fault, returns the message of the fault, without numbers and names. For a
    /// difference from ONNX Runtime, returns the operator with the difference.
    pub fn cause(&self, rules: &Rules) -> String {
        if self.fault.kind.is_about_runtime() {
            return self.fault.about().to_owned();
        }
        let all = rules.of(&self.way);
        let codes = applied(&self.model, &self.way, all);
        let is_cause = |code: &&String| {
            let others = all.filtered(|rule| *rule.code != **code);
            check(&self.model, &self.runs, &self.way, &others).is_ok()
        };
        let causes: Vec<String> = codes.iter().filter(is_cause).cloned().collect();
        if !causes.is_empty() {
            return causes.join(", ");
        }
        let words = self.fault.what.split(|c: char| !c.is_alphabetic());
        let words: Vec<&str> = words.filter(|word| word.len() > 2).take(12).collect();
        format!("no rule alone ({})", words.join(" "))
    }
}

/// Returns the size of a model; every reduction makes it smaller.
fn weight(model: &Model) -> usize {
    let graphs = scopes::live(model);
    let of_node = |node: &NodeId| {
        let node = &model.nodes[*node];
        4 + node.inputs.iter().flatten().count() + node.inputs.len() + node.attrs.len()
    };
    let of_graph = |graph: &GraphId| {
        let graph = &model.graphs[*graph];
        let ports = 2 * graph.inputs.len() + 2 * graph.outputs.len() + graph.initializers.len();
        graph.nodes.iter().map(of_node).sum::<usize>() + ports
    };
    graphs.iter().map(of_graph).sum::<usize>() + 2 * used(model).len()
}

/// Returns reduced models, each with the name and value of its new input, if a change added one.
fn candidates(shown: &Shown) -> Vec<(Model, Option<(String, Val)>)> {
    let (model, main) = (&shown.model, shown.model.main);
    let mut all = Vec::new();
    let mut with = |change: &mut dyn FnMut(&mut Model) -> Option<()>| {
        let mut model = model.clone();
        if change(&mut model).is_some() {
            all.push((model, None));
        }
    };
    let outputs = model.graphs[main].outputs.len();
    for at in (0..outputs).filter(|_| outputs > 1) {
        with(&mut |model| {
            model.graphs[main].outputs.swap(0, at);
            model.graphs[main].outputs.truncate(1);
            Some(())
        });
    }
    for graph in scopes::live(model) {
        for &node in &model.graphs[graph].nodes {
            with(&mut |model| {
                let is_used =
                    model.nodes[node].outputs.iter().flatten().any(|value| used(model).contains(value));
                (!is_used).then(|| model.graphs[graph].nodes.retain(|other| *other != node))
            });
            for input in model.nodes[node].inputs.iter().flatten() {
                with(&mut |model| bypassed(model, node, *input));
            }
            for at in 0..model.nodes[node].attrs.len() {
                with(&mut |model| {
                    model.nodes[node].attrs.remove(at);
                    Some(())
                });
            }
            if model.nodes[node].inputs.len() > 1 {
                with(&mut |model| model.nodes[node].inputs.pop().map(drop));
            }
        }
    }
    let mut cut = Vec::new();
    for &node in &model.graphs[main].nodes {
        for output in model.nodes[node].outputs.iter().flatten() {
            let val = shown.runs.first().and_then(|before| before.ran.values.get(output));
            if let Some(val) = val {
                cut.extend(given_instead(model, *output, val));
            }
        }
    }
    all.extend(cut);
    all
}

/// Replaces the first output of a node by one of its inputs.
fn bypassed(model: &mut Model, node: NodeId, input: ValueId) -> Option<()> {
    let output = model.nodes[node].output(0)?;
    let is_output =
        model.graphs.iter().any(|(_, graph)| graph.outputs.iter().any(|port| port.value == output));
    if is_output && model.values[input].graph != model.values[output].graph {
        return None;
    }
    replace(model, output, input);
    Some(())
}

fn replace(model: &mut Model, from: ValueId, to: ValueId) {
    for (_, node) in model.nodes.iter_mut() {
        for input in node.inputs.iter_mut().flatten().filter(|input| **input == from) {
            *input = to;
        }
    }
    for (_, graph) in model.graphs.iter_mut() {
        for port in graph.outputs.iter_mut().filter(|port| port.value == from) {
            port.value = to;
            port.info = ValueInfo::default();
        }
    }
}

/// Replaces a computed value by a graph input.
fn given_instead(model: &Model, value: ValueId, val: &Val) -> Option<(Model, Option<(String, Val)>)> {
    let Val::Tensor(array) = val else { return None };
    let mut model = model.clone();
    let main = model.main;
    if model.graphs[main].outputs.iter().any(|port| port.value == value) {
        return None;
    }
    let name = format!("{}_in", model.values[value].name);
    let def = Def::Input(model.graphs[main].inputs.len() as u32);
    let id = model.values.push(Value { name: name.as_str().into(), graph: main, def, initial: None });
    let dims = array.shape().iter().map(|&size| DeclaredDim::Value(size as i64)).collect();
    let info = ValueInfo { ty: Some(tensor_type(array.elem(), Some(dims))), ..ValueInfo::default() };
    model.graphs[main].inputs.push(Port { value: id, info });
    replace(&mut model, value, id);
    Some((model, Some((name, val.clone()))))
}

/// Removes dead nodes.
fn remove_dead_code(model: &mut Model) {
    loop {
        let used = used(model);
        let mut is_done = true;
        for graph in scopes::live(model) {
            let nodes = model.graphs[graph].nodes.clone();
            let keeps = |node: &NodeId| model.nodes[*node].outputs.iter().flatten().any(|v| used.contains(v));
            let kept: Vec<NodeId> = nodes.iter().copied().filter(keeps).collect();
            is_done &= kept.len() == nodes.len();
            model.graphs[graph].nodes = kept;
        }
        if is_done {
            break;
        }
    }
}

/// Removes unused inputs and initializers, and restores missing types of outputs.
fn tidied(model: &Model) -> Option<Model> {
    let mut model = model.clone();
    let used = used(&model);
    for graph in scopes::live(&model) {
        drop_unused(&mut model, graph, &used);
    }
    let facts = infer::infer(&model, infer::Options::default());
    let main = model.main;
    for port in &mut model.graphs[main].outputs {
        if port.info.ty.is_none() {
            let fact = facts[port.value].as_tensor()?;
            let dims = fact.shape.rank().map(|rank| vec![DeclaredDim::Absent; rank]);
            port.info.ty = Some(tensor_type(fact.elem?, dims));
        }
    }
    Some(model)
}

fn used(model: &Model) -> FxHashSet<ValueId> {
    let mut used = FxHashSet::default();
    for graph in scopes::live(model) {
        let graph = &model.graphs[graph];
        used.extend(graph.outputs.iter().map(|port| port.value));
        used.extend(graph.nodes.iter().flat_map(|&node| model.nodes[node].inputs.iter().flatten().copied()));
    }
    used
}

fn drop_unused(model: &mut Model, graph: GraphId, used: &FxHashSet<ValueId>) {
    let scope = &mut model.graphs[graph];
    scope.initializers.retain(|value| used.contains(value));
    scope.value_info.retain(|port| used.contains(&port.value));
    if graph == model.main {
        let values = &model.values;
        scope.inputs.retain(|port| used.contains(&port.value));
        for port in &scope.inputs {
            // Keep the defaults of the remaining inputs.
            if let Some(Initial::Dense(_)) = values[port.value].initial
                && !scope.initializers.contains(&port.value)
            {
                scope.initializers.push(port.value);
            }
        }
    }
}
