//! Classes of the script: their definitions, instances and method resolution.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::syntax::{children, field, string, within};
use crate::diag::rule_ids;

use super::calls::Args;
use super::faults::{Fault, LINE_RAISES};
use super::heap::{Class, Instance, Object};
use super::machine::{Eval, Machine, Stop};
use super::tensor::Role;
use super::value::{Function, Ref, Value};

/// Maximum number of classes in a method resolution order.
const MAX_BASES: usize = 32;

impl<'t> Machine<'t> {
    /// Runs the definition of a class.
    pub fn class_definition(&mut self, node: Node<'t>, decorators: &[Node<'t>]) -> Eval<'t> {
        let name = field(node, "name").map_or("", |name| self.text(name));
        let mut bases = vec![];
        let mut open = false;
        for base in field(node, "superclasses").map(children).unwrap_or_default() {
            match base.kind() {
                "keyword_argument" | "list_splat" | "dictionary_splat" => open = true,
                _ => {
                    let base = self.evaluate(base)?;
                    bases.push(base);
                }
            }
        }
        let is_data = decorators.iter().any(|decorator| self.text(*decorator).contains("dataclass"));
        open |= decorators.len() > usize::from(is_data);
        let is_tuple = bases.iter().any(|base| base.path().is_some_and(|path| path.ends_with("NamedTuple")));
        let fields = (is_data || is_tuple).then(|| self.inherited_fields(&bases));
        let class = Class { name, bases, attributes: vec![], fields, open };
        let class = self.heap.add(Object::Class(class));
        let Some(frame) = self.frames.last() else { return Ok(Value::Unknown) };
        let (file, outer) = (frame.file, frame.scope);
        let scope = self.inner_scope(Some(outer));
        self.bind_in(scope, CLASS_MARK, Value::Object(class));
        let function = frame_function(self);
        self.push(file, scope, function, None, None)?;
        let done = field(node, "body").map(|body| self.block(body)).transpose();
        self.frames.pop();
        done?;
        let mut names: Vec<(Rc<str>, Value<'t>)> = self.heap.scope(scope).map_or(vec![], |scope| {
            scope.variables.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
        });
        names.retain(|(name, _)| &**name != CLASS_MARK);
        names.sort_by(|a, b| a.0.cmp(&b.0));
        self.make_members(class, &mut names);
        if let Object::Class(defined) = self.heap.get_mut(class) {
            defined.attributes = names;
        }
        Ok(Value::Object(class))
    }

    /// Evaluates `namedtuple(name, fields)`, if the fields are literals.
    pub fn named_tuple(&mut self, args: &Args<'t>) -> Value<'t> {
        let source = self.source(self.file());
        let literal = |at: usize| args.positional.get(at).and_then(|(_, node)| *node);
        let (Some(name), Some(fields), 2, true) =
            (literal(0), literal(1), args.positional.len(), args.keywords.is_empty())
        else {
            return Value::Unknown;
        };
        let names: Option<Vec<&'t str>> = match fields.kind() {
            "string" => string(fields, source)
                .map(|text| text.split([' ', ',']).filter(|name| !name.is_empty()).collect()),
            "list" | "tuple" => children(fields).into_iter().map(|name| string(name, source)).collect(),
            _ => None,
        };
        let (Some(name), Some(names)) = (string(name, source), names) else { return Value::Unknown };
        let fields = Some(names.into_iter().map(|name| (name, None)).collect());
        let bases = vec![Value::name("typing.NamedTuple")];
        let class = Class { name, bases, attributes: vec![], fields, open: false };
        Value::Object(self.heap.add(Object::Class(class)))
    }

    fn inherited_fields(&self, bases: &[Value<'t>]) -> Vec<(&'t str, Option<Value<'t>>)> {
        let classes = bases.iter().filter_map(|base| self.heap.class(base.object()?));
        classes.filter_map(|class| class.fields.clone()).flatten().collect()
    }

    /// Returns the class whose body has this scope.
    pub fn class_body(&self, scope: Ref) -> Option<Ref> {
        self.heap.scope(scope)?.variables.get(CLASS_MARK)?.object()
    }

    /// Adds the field of a dataclass or named tuple that an annotated assignment defines.
    pub fn declare_field(&mut self, node: Node<'t>) {
        if field(node, "type").is_none() {
            return;
        }
        let Some(class) = self.frames.last().and_then(|frame| self.class_body(frame.scope)) else { return };
        let name = field(node, "left").map_or("", |left| self.text(left));
        let default = field(node, "right").map(|_| self.variable(name));
        let default = default.map(|value| match value {
            // `field` returns an instance with an attribute `default`, also for `default_factory`.
            Value::Object(object) if self.heap.instance(object).is_some() => {
                let instance = self.heap.instance(object);
                instance.and_then(|instance| instance.get("default").cloned()).unwrap_or_default()
            }
            other => other,
        });
        if let Object::Class(class) = self.heap.get_mut(class)
            && let Some(fields) = &mut class.fields
        {
            fields.retain(|(known, _)| *known != name);
            fields.push((name, default));
        }
    }

    /// Returns true if a value certainly is, or contains, an object of a plain data class of the script.
    pub fn has_data_class(&self, value: &Value<'t>, depth: u32) -> bool {
        if depth > 4 || self.mentions(&["pytree", "register_dataclass"]) {
            return false;
        }
        let instance = value.object().and_then(|object| self.heap.instance(object));
        match instance.and_then(|instance| instance.class.object()) {
            Some(class) => self
                .heap
                .class(class)
                .is_some_and(|class| class.fields.is_some() && class.bases.is_empty() && !class.open),
            None if instance.is_some() => false,
            None => {
                let items = self.items(value).unwrap_or_default();
                !matches!(value, Value::Str(_))
                    && items.iter().any(|item| self.has_data_class(item, depth + 1))
            }
        }
    }

    /// Returns a class and its bases, including library classes, in the order of method resolution.
    ///
    /// The order may differ from that of Python if two bases have a common base.
    pub fn lineage(&self, class: Ref) -> Vec<Value<'t>> {
        let mut found = vec![Value::Object(class)];
        let mut at = 0;
        while at < found.len() && found.len() < MAX_BASES {
            let bases = found[at].object().and_then(|class| self.heap.class(class));
            let bases = bases.map(|class| class.bases.clone()).unwrap_or_default();
            for (position, base) in bases.into_iter().enumerate() {
                if !found.contains(&base) {
                    found.insert((at + 1 + position).min(found.len()), base);
                }
            }
            at += 1;
        }
        found
    }

    /// Returns the attribute of a class or of its bases in the script.
    ///
    /// The class `after`, if any, and the classes before it in the method resolution order are skipped. If no
    /// class of the script has the attribute, `Err` holds the first library or unknown class, if any, which
    /// may have the attribute.
    pub fn class_attribute(
        &self,
        class: Ref,
        name: &str,
        after: Option<Ref>,
    ) -> Result<Value<'t>, Option<Value<'t>>> {
        let lineage = self.lineage(class);
        let skip = after.and_then(|after| lineage.iter().position(|one| one.object() == Some(after)));
        let mut library = None;
        for one in lineage.into_iter().skip(skip.map_or(0, |at| at + 1)) {
            match one.object().and_then(|class| self.heap.class(class)) {
                Some(class) => {
                    if let Some(value) = class.get(name) {
                        return Ok(value.clone());
                    }
                }
                None => {
                    library.get_or_insert(one);
                }
            }
        }
        Err(library)
    }

    /// Returns the library classes from which a class derives.
    pub fn library_bases(&self, class: &Value<'t>) -> Vec<Value<'t>> {
        match class {
            Value::Object(class) => {
                let lineage = self.lineage(*class);
                lineage.into_iter().filter(|one| one.object().is_none()).collect()
            }
            other => vec![other.clone()],
        }
    }

    /// Returns true if a class and its bases are known, and no metaclass or decorator may change them.
    fn is_closed(&self, class: Ref) -> bool {
        self.lineage(class).iter().all(|one| match one {
            Value::Object(class) => self.heap.class(*class).is_some_and(|class| !class.open),
            Value::Name(path) => CLOSED_BASES.contains(&&**path) || path.starts_with("torch.nn."),
            _ => false,
        })
    }

    /// Creates an instance of a class of the script.
    pub fn instantiate(&mut self, class: Ref, args: &Args<'t>) -> Eval<'t> {
        if let Some(member) = self.member_of(class, args) {
            return Ok(member);
        }
        let open = !self.is_closed(class);
        let origin = Some((self.file(), args.node));
        let instance = Instance { class: Value::Object(class), attributes: vec![], open, origin };
        let this = Value::Object(self.heap.add(Object::Instance(instance)));
        if self.is_module(&this) == Some(true) {
            self.set_attribute(&this, "training", Value::Bool(true));
        }
        let fields = self.heap.class(class).and_then(|class| class.fields.clone());
        match (self.class_attribute(class, "__init__", None), fields) {
            (Ok(Value::Function(init)), _) => {
                if !open {
                    self.check_constructor(class, &init, args)?;
                }
                self.call_function(&init, Some(this.clone()), args)?;
            }
            (Err(_), Some(fields)) => {
                self.fill_fields(&this, &fields, args);
                if let Ok(Value::Function(after)) = self.class_attribute(class, "__post_init__", None) {
                    self.call_function(&after, Some(this.clone()), &Args::none(args.node))?;
                }
            }
            (Err(Some(Value::Name(base))), None) => self.initialize(&this, &base, args)?,
            (Err(None), None) => {}
            _ => self.forget(&this),
        }
        Ok(this)
    }

    /// Reports a submodule or parameter that `__init__` assigns before it calls `super().__init__()`.
    pub fn check_constructed(
        &self,
        object: &Value<'t>,
        value: &Value<'t>,
        target: Node<'t>,
    ) -> Result<(), Stop> {
        let is_registered = match value {
            Value::Tensor(tensor) => tensor.role == Role::Parameter,
            _ => self.is_module(value) == Some(true),
        };
        let frame = self.frames.last();
        let Some(init) = frame.and_then(|frame| frame.function.as_ref()) else { return Ok(()) };
        let is_own = frame.is_some_and(|frame| frame.this.as_ref() == Some(object));
        if !is_registered || !is_own || init.name != "__init__" || self.is_module(object) != Some(true) {
            return Ok(());
        }
        let instance = object.object().and_then(|object| self.heap.instance(object));
        let class = instance.filter(|instance| !instance.open).and_then(|instance| instance.class.object());
        // A derived class may have called `super().__init__()` before.
        let is_first = class.is_some_and(|class| {
            let has = |name| self.class_attribute(class, name, None).is_ok();
            self.class_attribute(class, "__init__", None).ok().as_ref()
                == Some(&Value::Function(init.clone()))
                && !has("__new__")
                && !has("__setattr__")
        });
        if !is_first || self.may_initialize(init, target.parent().unwrap_or(target).end_byte()) {
            return Ok(());
        }
        let name = field(target, "attribute").map_or("", |name| self.text(name));
        let class = class.and_then(|class| self.heap.class(class)).map_or("", |class| class.name);
        let message = format!("`{class}` assigns `{name}` before it calls `super().__init__()`");
        let fault = Fault {
            rule: rule_ids::UNKNOWN_ATTRIBUTE,
            kind: "AttributeError",
            note: LINE_RAISES,
            ..Fault::shape(message, "call `super().__init__()` in the first line of `__init__`")
        };
        Err(self.fault(target, fault))
    }

    /// Returns true if the code of `__init__` before `end` may call `super().__init__()`.
    fn may_initialize(&self, init: &Function<'t>, end: usize) -> bool {
        let text = |node: Node| self.source(init.file).get(node.byte_range()).unwrap_or("");
        let first = field(init.node, "parameters").and_then(|all| children(all).first().copied());
        let Some((this, body)) = first.map(text).zip(field(init.node, "body")) else { return true };
        let is_decorated = init.node.parent().is_some_and(|outer| outer.kind() == "decorated_definition");
        let is_this = |node: &Node| node.kind() == "identifier" && text(*node) == this;
        // Another function may initialize the object: `start(self)`, `self.start()`.
        let gets_this = |call: Node| {
            let callee = field(call, "function");
            let object = callee.and_then(|callee| field(callee, "object"));
            let arguments = field(call, "arguments").map(children).unwrap_or_default();
            let values = arguments.into_iter().map(|one| field(one, "value").unwrap_or(one));
            object.into_iter().chain(values).any(|node| is_this(&node))
        };
        let initializes = |node: Node| match node.kind() {
            "call" => gets_this(node),
            "identifier" => matches!(text(node), "super" | "__init__" | "__setattr__" | "__dict__"),
            _ => false,
        };
        is_decorated || within(body).into_iter().any(|node| node.start_byte() < end && initializes(node))
    }

    fn fill_fields(&mut self, this: &Value<'t>, fields: &[(&'t str, Option<Value<'t>>)], args: &Args<'t>) {
        for (at, (name, default)) in fields.iter().enumerate() {
            let given = args.get(at, name).cloned();
            let value = if args.open && given.is_none() { Some(Value::Unknown) } else { given };
            self.set_attribute(this, name, value.or_else(|| default.clone()).unwrap_or_default());
        }
    }

    /// Evaluates `super()` and `super(Net, self)`.
    pub fn super_object(&mut self, node: Node<'t>) -> Eval<'t> {
        let args = self.arguments(node)?;
        let frame = self.frames.last();
        let this = frame.and_then(|frame| frame.this.clone());
        let class = frame.and_then(|frame| frame.function.as_ref()?.class);
        let given = args.positional.first().and_then(|(value, _)| value.object());
        Ok(match (this, given.or(class)) {
            (Some(this), Some(class)) => Value::Super(Rc::new((this, class))),
            _ => Value::Unknown,
        })
    }

    /// Returns an attribute of `super()`.
    pub fn super_attribute(&mut self, this: &Value<'t>, after: Ref, name: &str) -> Value<'t> {
        let class = this.object().and_then(|object| self.heap.instance(object)?.class.object());
        let Some(class) = class else { return Value::Unknown };
        match self.class_attribute(class, name, Some(after)) {
            Ok(Value::Function(function)) => Value::Bound(Rc::new((this.clone(), function))),
            Ok(other) => other,
            Err(Some(Value::Name(base))) => {
                let whole = format!("super:{base}:{name}");
                Value::Method(Rc::new((this.clone(), Rc::from(whole))))
            }
            Err(_) => Value::Unknown,
        }
    }

    /// Calls a method of the library class `base` on an instance of a derived class.
    pub fn super_method(&mut self, this: &Value<'t>, base: &str, name: &str, args: &Args<'t>) -> Eval<'t> {
        match name {
            "__init__" => {
                self.initialize(this, base, args)?;
                Ok(Value::None)
            }
            "forward" | "__call__" => self.layer_forward(this, base, args),
            _ => self.method(this, name, args),
        }
    }
}

/// Name of the variable that holds the class in the scope of its body.
const CLASS_MARK: &str = "__class__";

/// Library classes from which instances get no unknown attributes.
const CLOSED_BASES: [&str; 8] = [
    "object",
    "abc.ABC",
    "Exception",
    "enum.Enum",
    "typing.NamedTuple",
    "typing.Protocol",
    "torch.nn.Module",
    "torch.nn.modules.Module",
];

fn frame_function<'t>(machine: &Machine<'t>) -> Option<Rc<Function<'t>>> {
    machine.frames.last().and_then(|frame| frame.function.clone())
}
