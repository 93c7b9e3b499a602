//! Members of enumerations.

use std::rc::Rc;

use super::calls::Args;
use super::heap::{Instance, Object};
use super::machine::Machine;
use super::value::{Ref, Value};

/// Class from which plain enumerations derive.
const ENUM: &str = "enum.Enum";

/// Attribute that only members of enumerations have.
const NAME: &str = "_name_";

impl<'t> Machine<'t> {
    /// Makes members of the values in the body of a class, if the class is an enumeration.
    ///
    /// Members of enumerations that derive from other types, such as `str`, stay plain values.
    pub fn make_members(&mut self, class: Ref, names: &mut [(Rc<str>, Value<'t>)]) {
        let bases = self.heap.class(class).map(|class| class.bases.clone()).unwrap_or_default();
        if bases != [Value::name(ENUM)] {
            return;
        }
        let mut members: Vec<(Value<'t>, Value<'t>)> = vec![];
        let changes = ["value", "name", "__new__", "__init__", "__getattribute__"];
        let is_changed = names.iter().any(|(name, _)| changes.contains(&&**name));
        for (name, value) in names {
            if name.starts_with('_') || !value.is_plain() && !matches!(value, Value::Tuple(_)) {
                continue;
            }
            if is_changed {
                *value = Value::Unknown;
                continue;
            }
            // Equal values have one member.
            if let Some((_, member)) =
                members.iter().find(|(known, _)| self.equal(known, value) != Some(false))
            {
                *value = member.clone();
                continue;
            }
            let attributes = [("value", value.clone()), ("name", Value::str(name)), (NAME, Value::str(name))];
            let attributes = attributes.into_iter().map(|(name, value)| (Rc::from(name), value)).collect();
            let class = Value::Object(class);
            let member = Instance { class, attributes, open: true, origin: None };
            let member = Value::Object(self.heap.add(Object::Instance(member)));
            members.push((value.clone(), member.clone()));
            *value = member;
        }
    }

    /// Returns true for a member of an enumeration that compares by identity.
    pub fn is_member(&self, value: &Value<'t>) -> bool {
        let instance = value.object().and_then(|object| self.heap.instance(object));
        instance.is_some_and(|instance| instance.get(NAME).is_some())
            && self
                .member_class(value)
                .is_some_and(|class| self.class_attribute(class, "__eq__", None).is_err())
    }

    fn member_class(&self, value: &Value<'t>) -> Option<Ref> {
        self.heap.instance(value.object()?)?.class.object()
    }

    /// Evaluates `Kind(value)`, which returns a member of an enumeration; `None` for other classes.
    pub fn member_of(&self, class: Ref, args: &Args<'t>) -> Option<Value<'t>> {
        if !self.lineage(class).iter().any(|base| base.path().is_some_and(|path| path.starts_with("enum."))) {
            return None;
        }
        let members = self.heap.class(class).map(|class| class.attributes.clone()).unwrap_or_default();
        let found = members.into_iter().map(|(_, member)| member).find(|member| {
            let value = self.attribute_of(member, "value").filter(|_| self.is_member(member));
            value.zip(args.get(0, "value")).is_some_and(|(a, b)| self.equal(&a, b) == Some(true))
        });
        Some(found.unwrap_or_default())
    }
}
