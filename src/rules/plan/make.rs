//! Evaluates the terms of a rewrite on demand.

use std::borrow::Cow;
use std::sync::Arc;

use super::inferred::{NewAttrs, opset_for};
use super::{Item, Made, NewId, PlannedNode, PlannedOp, literal, planned_op};
use crate::graph::{AttrKind, AttrValue, Attribute, ElemType, Id, Tensor, TensorId};
use crate::infer::{Fact, NoSymbols, OpCall, transfer};
use crate::rules::datum::Datum;
use crate::rules::draft::Slot;
use crate::rules::eval::Env;
use crate::rules::host::Host;
use crate::rules::matcher::Binding;
use crate::rules::message::text;
use crate::rules::rule::{AttrVarId, NewNode, NewOutput, Term, VarId};
use crate::schema;

impl<'a, H: Host> Env<'a, H> {
    /// Returns the facts of a value; those of a new value follow from its node or its constant elements.
    pub(in crate::rules) fn fact(&mut self, item: Item<H::Value>) -> Cow<'a, Fact> {
        let host = self.host;
        match item {
            Item::Old(value) => Cow::Borrowed(host.fact(value)),
            Item::New(id) => Cow::Owned(self.new_fact(id)),
        }
    }

    fn new_fact(&mut self, id: NewId) -> Fact {
        if let Some(fact) = &self.draft.facts[id.0] {
            return fact.clone();
        }
        let fact = match self.draft.values[id.0].clone() {
            Made::Constant(array) => Fact::Tensor(crate::infer::TensorFact::constant(array)),
            Made::Output { node, index } => self.transferred(node).get(index).cloned().unwrap_or_default(),
        };
        self.draft.facts[id.0] = Some(fact.clone());
        fact
    }

    /// Infers the facts of the outputs of a new node.
    fn transferred(&mut self, node: usize) -> Vec<Fact> {
        let inputs = self.draft.nodes[node].inputs.clone();
        let facts: Vec<_> = inputs.into_iter().map(|input| input.map(|input| self.fact(input))).collect();
        let facts: Vec<Option<&Fact>> = facts.iter().map(|fact| fact.as_deref()).collect();
        let PlannedNode { op, attrs, outputs, .. } = &self.draft.nodes[node];
        let call = OpCall {
            domain: &op.domain,
            op: &op.name,
            opset: opset_for(self.host, op),
            attrs: &NewAttrs { attrs, tensors: &self.draft.tensors },
            inputs: &facts,
            outputs: outputs.len(),
            bounds: self.host.bounds(),
            runs: false,
        };
        transfer(&call, &mut NoSymbols).0
    }

    /// Evaluates a `let` of the rewrite.
    pub(in crate::rules) fn make_attr(&mut self, var: AttrVarId) -> Option<Datum> {
        let (_, expr) = self.draft.rewrite?.lets.iter().find(|(name, _)| *name == var)?;
        let datum = self.eval(expr)?;
        self.draft.set_attr(var, datum.clone());
        Some(datum)
    }

    /// Returns the binding of a name that the pattern does not bind.
    pub(in crate::rules) fn make_value(&mut self, var: VarId) -> Option<Binding<Item<H::Value>>> {
        self.named(var)?.binding()
    }

    /// Returns the replacement of a pattern value.
    pub(super) fn redefinition(&mut self, var: VarId) -> Option<Slot<H::Value>> {
        if let Some(slot) = self.draft.output(var) {
            return Some(slot.clone());
        }
        let (_, term) = self.draft.rewrite?.outputs.iter().find(|(name, _)| *name == var)?;
        if !self.draft.open.insert(var) {
            return self.fail("an output of the rewrite depends on itself".to_owned());
        }
        let slot = self.resolve(term);
        self.draft.open.remove(&var);
        let slot = slot?;
        self.draft.set_output(var, slot.clone());
        Some(slot)
    }

    fn named(&mut self, var: VarId) -> Option<Slot<H::Value>> {
        if let Some(slot) = self.draft.slot(var) {
            return Some(slot.clone());
        }
        let rewrite = self.draft.rewrite?;
        if let Some(binding) = self.found.value(var) {
            let is_made = rewrite.outputs.iter().any(|(name, _)| *name == var);
            return if is_made { self.redefinition(var) } else { Some(slot_of(binding)) };
        }
        let fresh = usize::from(var.0).checked_sub(self.found.value_count())?;
        let slot = self.resolve(rewrite.fresh.get(fresh)?.term.as_ref()?)?;
        self.draft.set_slot(var, slot.clone());
        Some(slot)
    }

    fn resolve(&mut self, term: &'a Term) -> Option<Slot<H::Value>> {
        Some(match term {
            Term::Absent => Slot::Absent,
            Term::Var(var) => return self.named(*var),
            Term::Literal(expr) => match self.eval(expr)? {
                Datum::Absent => Slot::Absent,
                datum @ Datum::Tensor(_) => Slot::Value(self.constant_of(&datum, None)?),
                datum => Slot::Literal(datum),
            },
            Term::Output { node, index } => {
                let node = self.node(*node)?;
                self.output_of(node, usize::from(*index))
            }
            Term::Outputs { node, first } => {
                let node = self.node(*node)?;
                let outputs = usize::from(*first)..self.draft.nodes[node].outputs.len();
                Slot::Many(outputs.map(|index| self.output_of(node, index)).collect())
            }
            Term::Case(arms) => {
                for arm in arms {
                    let holds = match &arm.condition {
                        Some(condition) => self.truth(condition)?,
                        None => true,
                    };
                    if holds {
                        return self.resolve(&arm.term);
                    }
                }
                return None;
            }
            Term::Each(each) => {
                let bound = self.found.value_count();
                let slots = self.each(&each.each, |env| {
                    env.draft.forget(each, bound);
                    env.resolve(&each.term)
                });
                Slot::Many(slots?)
            }
            Term::Fold(fold) => {
                let bound = self.found.value_count();
                let mut slot = self.resolve(&fold.initial)?;
                self.each(&fold.each.each, |env| {
                    env.draft.forget(&fold.each, bound);
                    env.draft.set_slot(fold.var, slot.clone());
                    slot = env.resolve(&fold.each.term)?;
                    Some(())
                })?;
                slot
            }
        })
    }

    fn output_of(&mut self, node: usize, index: usize) -> Slot<H::Value> {
        let is_it =
            |made: &Made| matches!(made, Made::Output { node: n, index: i } if (*n, *i) == (node, index));
        match self.draft.values.iter().position(is_it) {
            Some(at) => Slot::Value(Item::New(NewId(at))),
            None => Slot::Value(self.draft.add_value(Made::Output { node, index })),
        }
    }

    /// Returns, for each output of a node of the rewrite, whether it is present.
    fn outputs(&self, new: &NewNode) -> Vec<bool> {
        let mut outputs = Vec::with_capacity(new.outputs.len());
        for output in &new.outputs {
            match output {
                NewOutput::No => outputs.push(false),
                NewOutput::Yes => outputs.push(true),
                NewOutput::AsMatched(var) => match self.found.value(*var) {
                    Some(Binding::Many(values)) => outputs.extend(values.iter().map(|_| true)),
                    binding => outputs.push(matches!(binding, Some(Binding::One(_)))),
                },
            }
        }
        while outputs.last() == Some(&false) {
            outputs.pop();
        }
        outputs
    }

    /// Returns the index of the planned node for a node of the rewrite; adds it if necessary.
    fn node(&mut self, index: u16) -> Option<usize> {
        if let Some(placed) = self.draft.placed(index) {
            return Some(placed);
        }
        let new = self.draft.rewrite?.nodes.get(usize::from(index))?;
        let mut slots = Vec::new();
        for input in &new.inputs {
            slots.extend(self.resolve(input)?.into_list());
        }
        while matches!(slots.last(), Some(Slot::Absent)) {
            slots.pop();
        }
        let Some(mut op) = planned_op(&new.op, self.host.opset(&new.op.domain)) else {
            return self.fail(format!("unknown operator `{}`", new.op.name));
        };
        let names = || new.attrs.iter().map(|attr| &*attr.name);
        op.schema = op.schema.map(|schema| schema::with_attributes(schema, names()));
        let attrs = self.attributes(new, &op)?;
        let elems: Vec<Option<ElemType>> = slots
            .iter()
            .map(|slot| match slot {
                Slot::Value(item) => self.fact(*item).elem(),
                _ => None,
            })
            .collect();
        let mut inputs = Vec::with_capacity(slots.len());
        for (position, slot) in slots.iter().enumerate() {
            inputs.push(match slot {
                Slot::Absent => None,
                Slot::Literal(datum) => {
                    let elem = literal::elem(op.schema, position, &slots, &elems, datum);
                    Some(self.constant_of(datum, elem)?)
                }
                Slot::Value(item) => Some(*item),
                Slot::Many(_) => return None,
            });
        }
        let outputs = self.outputs(new);
        let node = self.draft.place(index, PlannedNode { op, inputs, outputs: outputs.clone(), attrs });
        // Add named outputs even if unused: some operators behave differently without them.
        for (index, _) in outputs.iter().enumerate().filter(|(_, is_there)| **is_there) {
            self.draft.add_value(Made::Output { node, index });
        }
        Some(node)
    }

    /// Converts a slot to a value; an untyped constant gets type `elem`.
    pub(super) fn item(&mut self, slot: Slot<H::Value>, elem: Option<ElemType>) -> Option<Item<H::Value>> {
        match slot {
            Slot::Value(item) => Some(item),
            Slot::Literal(datum) => self.constant_of(&datum, elem),
            Slot::Absent | Slot::Many(_) => None,
        }
    }

    /// Returns a value with these elements; symbolic dimensions are computed at run time.
    pub(super) fn constant_of(&mut self, datum: &Datum, elem: Option<ElemType>) -> Option<Item<H::Value>> {
        match literal::array(datum, elem) {
            Some(array) => Some(self.draft.add_value(Made::Constant(Arc::new(array)))),
            None => self.computed(datum, elem?),
        }
    }

    fn attributes(&mut self, new: &NewNode, op: &PlannedOp) -> Option<Vec<Attribute>> {
        let mut data: Vec<(Arc<str>, Datum)> = Vec::with_capacity(new.attrs.len());
        for attr in &new.attrs {
            match self.eval(&attr.value)? {
                Datum::Absent => {}
                datum => data.push((attr.name.clone(), datum)),
            }
        }
        if let Some(rest) = new.rest.and_then(|rest| self.found.rest(rest)) {
            data.extend(rest.iter().cloned());
        }
        let mut attrs = Vec::with_capacity(data.len());
        for (name, datum) in data {
            let kind = match op.schema {
                Some(schema) => schema.attr(&name).map(|spec| spec.kind),
                None => datum.attr_kind(),
            };
            let versions = schema::versions(&op.domain, &op.name);
            if kind.is_none() && versions.iter().any(|version| version.attr(&name).is_some()) {
                // Only another version of the operator has the attribute, such as `start` of Shape since
                // opset 15, so the rewrite does not apply.
                return None;
            }
            let Some(value) = kind.and_then(|kind| self.attr_value(kind, &datum)) else {
                return self.fail(format!("attribute `{name}` of `{}` cannot be {}", op.name, text(&datum)));
            };
            attrs.push(Attribute::new(&name, value));
        }
        Some(attrs)
    }

    fn attr_value(&mut self, kind: AttrKind, datum: &Datum) -> Option<AttrValue> {
        match (kind, datum) {
            (AttrKind::Tensor, Datum::Tensor(tensor)) => {
                self.draft.tensors.push(Tensor::clone(tensor));
                Some(AttrValue::Tensor(TensorId::from_index(self.draft.tensors.len() - 1)))
            }
            _ => datum.to_attr(kind),
        }
    }

    fn fail<T>(&mut self, why: String) -> Option<T> {
        self.draft.malformed.get_or_insert(why);
        None
    }
}

fn slot_of<V: Copy>(binding: &Binding<V>) -> Slot<V> {
    match binding {
        Binding::One(value) => Slot::Value(Item::Old(*value)),
        Binding::Absent => Slot::Absent,
        Binding::Many(values) => {
            Slot::Many(values.iter().map(|value| Slot::Value(Item::Old(*value))).collect())
        }
    }
}
