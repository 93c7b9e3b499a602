//! A call whose content is being read.

use egg::Id;

use crate::egraph::EGraph;
use crate::egraph::enode::{Call, ENode};
use crate::graph::AttrValue;
use crate::infer::{Fact, Size, eval};

/// Output of a call.
pub struct Reading<'a, 'm> {
    pub egraph: &'a EGraph<'m>,
    /// Class of the output.
    pub class: Id,
    pub call: &'a Call,
    /// Position of the output.
    pub index: usize,
}

impl Reading<'_, '_> {
    /// Returns the class of an input; `None` if it is absent.
    pub fn input(&self, index: usize) -> Option<Id> {
        let child = self.call.children[..usize::from(self.call.inputs)].get(index)?;
        let child = self.egraph.find(*child);
        (self.egraph[child].nodes.first() != Some(&ENode::Absent)).then_some(child)
    }

    /// Returns the classes of all inputs; `None` if one is absent.
    pub fn inputs(&self) -> Option<Vec<Id>> {
        (0..usize::from(self.call.inputs)).map(|index| self.input(index)).collect()
    }

    /// Returns the fact of a class.
    pub fn fact(&self, class: Id) -> &Fact {
        self.egraph[class].data.fact()
    }

    /// Returns the dimensions of a class; `None` if the rank is unknown.
    pub fn dims(&self, class: Id) -> Option<&[Size]> {
        self.fact(class).dims()
    }

    /// Returns the dimensions of the output.
    pub fn own_dims(&self) -> Option<&[Size]> {
        self.dims(self.class)
    }

    /// Returns an attribute; `None` if it is absent or has its default.
    pub fn attr(&self, name: &str) -> Option<&AttrValue> {
        self.egraph.analysis.tables.attr(self.call.attrs, name)
    }

    /// Returns an integer attribute, or its default.
    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.attr(name).and_then(AttrValue::as_int).unwrap_or(default)
    }

    /// Returns the attribute `axis` as a position in this rank.
    pub fn axis(&self, default: i64, rank: usize) -> Option<usize> {
        eval::index(self.int("axis", default), rank)
    }

    /// Returns the numbers of a list that is an attribute or, in later versions, a constant input.
    ///
    /// The outer `None` means that the list is unknown, the inner one that it is absent.
    #[expect(clippy::option_option, reason = "unknown and absent lists differ")]
    pub fn list(&self, name: &str, input: usize) -> Option<Option<Vec<i64>>> {
        if let Some(ints) = self.attr(name).and_then(AttrValue::as_ints) {
            return Some(Some(ints.to_vec()));
        }
        match self.input(input) {
            None => Some(None),
            Some(class) => Some(Some(self.fact(class).as_const()?.as_i64s().ok()?)),
        }
    }

    /// Returns the operator with its attributes, except those of these names.
    pub fn named(&self, op: &str, without: &[&str]) -> String {
        let attrs = self.egraph.analysis.tables.attrs(self.call.attrs).iter();
        let kept = attrs.filter(|attr| !without.contains(&&*attr.name));
        kept.fold(op.to_owned(), |text, attr| format!("{text} {}={:?}", attr.name, attr.value))
    }

    /// Returns the first opset of the operator's current meaning.
    pub fn epoch(&self) -> u16 {
        self.egraph.analysis.tables.op(self.call.op).epoch.unwrap_or(0)
    }
}
