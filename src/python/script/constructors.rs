//! Checks of the arguments of constructors.

use std::rc::Rc;

use super::binding::{Parameter, ParameterKind};
use super::calls::Args;
use super::faults::Fault;
use super::machine::{Machine, Stop};
use super::value::{Function, Ref, Value};
use crate::diag::rule_ids;

impl<'t> Machine<'t> {
    /// Reports arguments that do not fit the constructor of a class.
    pub fn check_constructor(
        &mut self,
        class: Ref,
        init: &Rc<Function<'t>>,
        args: &Args<'t>,
    ) -> Result<(), Stop> {
        let Some(mut parameters) = self.parameters_in(init) else { return Ok(()) };
        // The first parameter is the object, unless `*args` receives it.
        if parameters.first().is_some_and(|first| first.kind == ParameterKind::Positional) {
            parameters.remove(0);
        }
        let has = |kind| parameters.iter().any(|parameter| parameter.kind == kind);
        // The classes of other libraries may have constructors of their own.
        let bases = self.library_bases(&Value::Object(class));
        let is_plain = |base: &Value| {
            let path = base.path().unwrap_or("");
            matches!(path, "object" | "abc.ABC") || path.starts_with("torch.nn.")
        };
        if args.open || !self.is_constructor(class, init) || !bases.iter().all(is_plain) {
            return Ok(());
        }
        let positional = parameters.iter().filter(|parameter| parameter.kind == ParameterKind::Positional);
        let extra = args.positional.len().saturating_sub(positional.count());
        let is_known = |name: &str| parameters.iter().any(|parameter| parameter.name == name);
        let unknown = args.keywords.iter().find(|(name, ..)| !is_known(name));
        let is_missing = |(at, parameter): &(usize, &Parameter<'t>)| {
            let is_given = parameter.kind == ParameterKind::Positional && *at < args.positional.len();
            matches!(parameter.kind, ParameterKind::Positional | ParameterKind::KeywordOnly)
                && !is_given
                && parameter.default.is_none()
                && args.keyword(parameter.name).is_none()
        };
        let missing = parameters.iter().enumerate().find(is_missing).map(|(_, parameter)| parameter.name);
        let name = self.heap.class(class).map_or("", |class| class.name);
        let message = if let Some((keyword, ..)) = unknown.filter(|_| !has(ParameterKind::Keywords)) {
            format!("the constructor of `{name}` has no parameter `{keyword}`")
        } else if extra > 0 && !has(ParameterKind::Rest) {
            let more = crate::diag::counted(extra, "more positional argument");
            format!("the constructor of `{name}` gets {more} than it has parameters")
        } else if let Some(missing) = missing {
            format!("the constructor of `{name}` gets no argument for its parameter `{missing}`")
        } else {
            return Ok(());
        };
        let help = "pass the parameters of `__init__`, by position or by their names";
        let fault =
            Fault { rule: rule_ids::FORWARD_ARGUMENTS, kind: "TypeError", ..Fault::shape(message, help) };
        Err(self.fault(args.node, fault))
    }

    /// Returns true if `init` is certainly the constructor that runs for a class.
    ///
    /// A library class or a dataclass before it in the order of method resolution has a constructor of its own. The
    /// order is certain only if no two bases of a class have a common base.
    fn is_constructor(&self, class: Ref, init: &Rc<Function<'t>>) -> bool {
        let has = |name| self.class_attribute(class, name, None).is_ok();
        if has("__new__") || has("__init_subclass__") {
            return false;
        }
        let lineage = self.lineage(class);
        let own = |one: &Value<'t>| one.object().and_then(|class| self.heap.class(class));
        let init = Value::Function(init.clone());
        let is_owner = |one: &Value<'t>| own(one).is_some_and(|class| class.get("__init__") == Some(&init));
        let Some(owner) = lineage.iter().position(is_owner) else { return false };
        let before = &lineage[..owner];
        before.iter().all(|one| own(one).is_some_and(|class| class.fields.is_none()))
            && lineage.iter().filter_map(own).all(|class| self.has_separate_bases(&class.bases))
    }

    /// Returns true if no two of these classes have a common base.
    fn has_separate_bases(&self, bases: &[Value<'t>]) -> bool {
        let mut seen: Vec<Value<'t>> = vec![];
        for base in bases {
            let lineage = base.object().map_or_else(|| vec![base.clone()], |class| self.lineage(class));
            if lineage.iter().any(|one| seen.contains(one)) {
                return false;
            }
            seen.extend(lineage);
        }
        true
    }
}
