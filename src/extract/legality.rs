//! Legality of e-nodes at the target opset and on the target runtimes, with reasons for illegal ones.

use std::sync::Arc;

use egg::Id;
use rustc_hash::FxHashSet;

use crate::egraph::{Call, ClassHost, EGraph, ENode, NodeRef, canonical, violations_at};
use crate::graph::{NodeId, OpsetImport, ValueId, normal_domain};
use crate::infer::{Fact, Fault};
use crate::schema::{self, AttrUse, Illegal, Obstacle, OpUse, Operand, Schema, constraints};
use crate::targets::{Answer, Profile, Query};

/// Opsets of the converted model, and the runtimes that must support this model.
#[derive(Clone, Debug)]
pub struct Target {
    /// Whether the target opsets are those of the source.
    /// If true, calls of the source are checked only against the runtimes, not against the specification.
    pub is_source: bool,
    pub imports: Vec<OpsetImport>,
    /// Target profiles: e-nodes known to be unsupported by one of them are illegal.
    pub profiles: Vec<Arc<Profile>>,
    /// Profiles that restrict the calls that rules add, except those of the source and of preferred rules.
    pub added: Vec<Arc<Profile>>,
}

impl Target {
    /// Returns the target version of a domain.
    pub fn opset(&self, domain: &str) -> Option<i64> {
        let import = self.imports.iter().find(|import| normal_domain(import.domain.as_deref()) == domain)?;
        import.version
    }

    /// Checks whether a call is legal at the target.
    ///
    /// # Errors
    /// The first obstacle that makes the call illegal, at the target opset or in a target runtime.
    pub fn legal(&self, egraph: &EGraph, call: &Call) -> Result<(), Illegal> {
        // Operators without a schema (custom ones and local functions) are kept as they are.
        let asked = self.ask(egraph, call, |op, opset| schema::legal(op, opset).map(|_| ()));
        asked.unwrap_or(Ok(()))?;
        self.fulfills_constraints(egraph, call)?;
        self.taken(egraph, call)
    }

    /// Checks a call against the operator's constraints at the target opset, if they depend on the opset.
    fn fulfills_constraints(&self, egraph: &EGraph, call: &Call) -> Result<(), Illegal> {
        let key = egraph.analysis.tables.op(call.op);
        let opset = self.opset(&key.domain).filter(|_| !self.is_source && key.epoch.is_some());
        let Some(opset) = opset.filter(|_| constraints::depend_on_version(&key.domain, &key.name)) else {
            return Ok(());
        };
        let violated = violations_at(egraph, call, opset).into_iter().find_map(|fault| match fault {
            Fault::Constraint { name, why, .. } => Some(Obstacle::Constraint { name, why }),
            _ => None,
        });
        violated.map_or(Ok(()), |obstacle| Err(Illegal { obstacle, since: None }))
    }

    /// Returns true if the profiles in [`Target::added`] permit a call that is legal.
    pub fn may_add(&self, egraph: &EGraph, call: &Call) -> bool {
        supported(&self.added, egraph, self.opset(""), call).is_ok()
    }

    /// Checks a call against the target runtimes, regardless of the specification.
    ///
    /// The call is accepted if it is unknown whether a runtime supports it.
    ///
    /// # Errors
    /// The limitation of the first runtime that does not support the call.
    pub fn taken(&self, egraph: &EGraph, call: &Call) -> Result<(), Illegal> {
        supported(&self.profiles, egraph, self.opset(""), call)
    }

    /// Returns the obstacles of a call for the operator version in force at the target.
    /// Returns `None` if this version is missing, is deprecated, or has other semantics than the call.
    pub fn obstacles(&self, egraph: &EGraph, call: &Call) -> Option<(&'static Schema, Vec<Obstacle>)> {
        let key = egraph.analysis.tables.op(call.op);
        let opset = u16::try_from(self.opset(&key.domain)?).ok()?;
        let schema = schema::schema_of_epoch(&key.domain, &key.name, key.epoch?, opset)?;
        let obstacles = self.ask(egraph, call, |op, _| schema::obstacles(op, schema))?;
        Some((schema, obstacles))
    }

    /// Returns true if the target supports a leaf (input, initializer or `Constant` node).
    /// A `Constant` node may have an attribute or, in a function, an element type that the target opset does
    /// not support.
    pub fn legal_leaf(&self, egraph: &EGraph, value: ValueId) -> bool {
        let model = egraph.analysis.tables.model;
        let Some((node, _)) = model.producer(value).filter(|_| !self.is_source) else { return true };
        let node = &model.nodes[node];
        if node.graph != egraph.analysis.graph {
            return true;
        }
        let Some(opset) = self.opset(node.domain()).and_then(|opset| u16::try_from(opset).ok()) else {
            return true;
        };
        let Some(schema) = schema::lookup(node.domain(), &node.op_type, opset) else { return true };
        let fact = egraph.lookup(ENode::Leaf(value)).map(|class| egraph[class].data.fact());
        let ty = fact.and_then(Fact::value_type);
        // Outside of functions, an initializer can replace a `Constant` of an unsupported type.
        let is_needed = model.function_of(node.graph).is_some();
        let takes = |ty| schema.output(0).is_none_or(|made| schema.allowed(made).has(ty));
        let is_taken = !is_needed || ty.is_none_or(takes);
        is_taken && node.attrs.iter().all(|attr| schema.attr(&attr.name).is_some())
    }

    /// Checks whether `Identity` supports the type of a class at the target.
    ///
    /// # Errors
    /// The type is not supported.
    pub fn legal_identity(&self, egraph: &EGraph, class: Id) -> Result<(), Illegal> {
        let opset = self.opset("").and_then(|opset| u16::try_from(opset).ok());
        let Some(opset) = opset else { return Ok(()) };
        schema::legal_identity(egraph[class].data.fact().value_type(), opset)
    }

    /// Returns the first version of a call's operator that has the semantics of the target opset.
    pub fn epoch_in_force(&self, egraph: &EGraph, call: &Call) -> Option<u16> {
        let key = egraph.analysis.tables.op(call.op);
        let opset = u16::try_from(self.opset(&key.domain)?).ok()?;
        key.epoch?;
        schema::lookup(&key.domain, &key.name, opset).map(|schema| schema.epoch)
    }

    /// Evaluates a schema query on a call.
    /// Returns `None` if the operator has no schema, or the target does not import its domain.
    fn ask<T>(&self, egraph: &EGraph, call: &Call, question: impl FnOnce(&OpUse, u16) -> T) -> Option<T> {
        let tables = &egraph.analysis.tables;
        let key = tables.op(call.op);
        let (epoch, opset) = (key.epoch?, self.opset(&key.domain)?);
        let attrs = tables.attrs(call.attrs).iter();
        let attrs: Vec<AttrUse> = attrs.map(AttrUse::from).collect();
        let inputs = call.children[..usize::from(call.inputs)].iter();
        let inputs: Vec<Operand> = inputs.map(|&child| operand(egraph, child)).collect();
        let op = OpUse {
            domain: &key.domain,
            name: &key.name,
            epoch: Some(epoch),
            attrs: &attrs,
            inputs: &inputs,
            outputs: &outputs(egraph, call),
        };
        Some(question(&op, u16::try_from(opset).unwrap_or(u16::MAX)))
    }
}

/// Checks whether profiles support a call in a model of this opset.
fn supported(
    profiles: &[Arc<Profile>],
    egraph: &EGraph,
    opset: Option<i64>,
    call: &Call,
) -> Result<(), Illegal> {
    let key = egraph.analysis.tables.op(call.op);
    let mut speaking = profiles.iter().filter(|profile| profile.speaks_of(&key.domain, &key.name)).peekable();
    let Some(node) = speaking.peek().and_then(|_| place(egraph, call)) else { return Ok(()) };
    let host = &ClassHost::of_nodes(egraph, opset);
    let asked = Query { host, node, domain: &key.domain, op: &key.name, epoch: key.epoch };
    for profile in speaking {
        if let Answer::No(refusal) = profile.ask(&asked) {
            let obstacle = Obstacle::Refused { by: profile.label(), why: refusal.why };
            return Err(Illegal { obstacle, since: None });
        }
    }
    Ok(())
}

/// Returns the position of a call in the e-graph.
fn place(egraph: &EGraph, call: &Call) -> Option<NodeRef> {
    let enode = canonical(egraph, &ENode::Call(call.clone()));
    let class = egraph.find(egraph.lookup(enode.clone())?);
    let index = egraph[class].nodes.iter().position(|other| *other == enode)?;
    Some(NodeRef { class, index: u32::try_from(index).ok()? })
}

fn operand(egraph: &EGraph, child: Id) -> Operand {
    let class = &egraph[child];
    if class.nodes.first() == Some(&ENode::Absent) {
        return Operand::Absent;
    }
    let fact = class.data.fact();
    let negative = fact
        .as_ints()
        .is_some_and(|ints| ints.iter().flatten().any(|int| int.as_const().is_some_and(|int| int < 0)));
    Operand::Present { ty: fact.value_type(), negative }
}

/// Returns the outputs of a call, with inferred types.
fn outputs(egraph: &EGraph, call: &Call) -> Vec<Operand> {
    let facts = egraph.lookup(ENode::Call(call.clone())).map(|id| &egraph[id].data.facts);
    let ty = |index: usize| facts.and_then(|facts| facts.get(index)).and_then(Fact::value_type);
    let outputs = 0..usize::from(call.outputs);
    outputs.map(|index| Operand::Present { ty: ty(index), negative: false }).collect()
}

/// Reason why a value cannot be produced at the target.
#[derive(Clone, Debug)]
pub struct Blocker {
    /// Source node that produces the value.
    pub node: NodeId,
    pub illegal: Illegal,
}

/// Returns the blockers: illegal nodes whose outputs cannot be extracted although their inputs can.
pub fn blockers(
    egraph: &EGraph,
    target: &Target,
    possible: &dyn Fn(Id) -> bool,
    calls: &[(NodeId, ENode)],
) -> Vec<Blocker> {
    let mut found = Vec::new();
    let mut known: FxHashSet<Id> = FxHashSet::default();
    for (node, enode) in calls {
        let Some(call) = enode.as_call() else { continue };
        let Some(class) = egraph.lookup(enode.clone()) else { continue };
        let inputs_possible = call.children.iter().all(|&child| possible(egraph.find(child)));
        if is_possible(egraph, class, call, possible) || !inputs_possible || !known.insert(class) {
            continue;
        }
        if let Err(illegal) = target.legal(egraph, call) {
            found.push(Blocker { node: *node, illegal });
        }
    }
    found
}

/// Returns true if the outputs of a call can be extracted, as a call or as separate values.
fn is_possible(egraph: &EGraph, class: Id, call: &Call, possible: &dyn Fn(Id) -> bool) -> bool {
    let mut outputs =
        (0..call.outputs).filter_map(|index| egraph.lookup(ENode::Output { index, call: [class] }));
    let single = egraph.analysis.tables.is_single(call);
    possible(class) || (!single && outputs.all(|output| possible(egraph.find(output))))
}
