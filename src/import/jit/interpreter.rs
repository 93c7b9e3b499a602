//! Interpreter of TorchScript code: functions and statements.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::fault::Fault;
use super::item::Item;
use super::oracle::Oracle;
use super::recorder::Recorder;
use crate::diag::{Finding, Place, SourcePlace, rule_ids};
use crate::read::jit::Archive;
use crate::read::jit::ast::{Expression, File, Function, Kind, Statement};
use crate::read::jit::objects::ObjectId;
use crate::torch::ValueId;

/// Maximum nesting of calls.
const MAX_CALLS: usize = 64;

/// Maximum number of statements, with those of unrolled loops.
const MAX_STEPS: usize = 1 << 17;

/// Maximum number of members of lists that are created at once or passed to operators.
pub const MAX_MEMBERS: usize = 1 << 18;

/// Maximum number of nodes or values of the program.
const MAX_VALUES: usize = 1 << 15;

/// Maximum nesting of expressions, statements and calls that are being evaluated.
const MAX_NESTING: usize = 1000;

/// Maximum work on lists, strings and copies of the recorded program: members, bytes and nodes.
const MAX_WORK: usize = 1 << 22;

/// Variables of a function.
pub type Variables = FxHashMap<Arc<str>, Item>;

/// Interpreter of the code of an archive, which records the operators that the code calls.
pub struct Interpreter<'a> {
    pub archive: &'a Archive,
    pub recorder: Recorder,
    pub oracle: Oracle<'a>,
    /// Module paths of the objects of the archive: `layer1.0.conv1`.
    pub paths: FxHashMap<ObjectId, String>,
    /// Lifted tensors of the modules and constants, by object.
    pub lifted: FxHashMap<(bool, ObjectId), ValueId>,
    /// Lists and dictionaries of the modules and constants, which their references share.
    pub kept: FxHashMap<(bool, ObjectId), Item>,
    /// Attributes that the code has set.
    pub attributes: FxHashMap<(ObjectId, Arc<str>), Item>,
    /// Whether types may be unknown: the linter interprets code without the shapes of its inputs.
    pub lenient: bool,
    /// Number of members of lists that were passed to operators.
    pub members: usize,
    /// Nesting of the stored objects and example inputs that are being read.
    pub objects: usize,
    /// File of the current function; `None` for the definition of a fused operator.
    file: Option<&'a File>,
    calls: usize,
    steps: usize,
    nesting: usize,
    work: usize,
}

/// Reason for values that are nested too deeply.
const TOO_DEEP: &str = "its lists are nested too deeply";

/// Copy of the recorded program.
pub struct Snapshot {
    pub(super) recorder: Recorder,
    pub(super) lifted: FxHashMap<(bool, ObjectId), ValueId>,
    pub(super) kept: FxHashMap<(bool, ObjectId), Item>,
    pub(super) paths: FxHashMap<ObjectId, String>,
}

/// Continuation after a statement.
pub enum Flow {
    Next,
    /// The function returns this value.
    Return(Item),
}

impl<'a> Interpreter<'a> {
    /// Returns an interpreter of an archive.
    pub fn new(archive: &'a Archive, oracle: Oracle<'a>) -> Self {
        let class = archive.root_class().map(|class| Arc::from(class.trim_start_matches("__torch__.")));
        let root = archive.modules.root;
        Interpreter {
            archive,
            recorder: Recorder::new(class),
            oracle,
            paths: [(root, String::new())].into_iter().collect(),
            lifted: FxHashMap::default(),
            kept: FxHashMap::default(),
            attributes: FxHashMap::default(),
            lenient: false,
            members: 0,
            objects: 0,
            file: None,
            calls: 0,
            steps: 0,
            nesting: 0,
            work: 0,
        }
    }

    /// Calls a function with arguments by position and by name.
    pub fn function(
        &mut self,
        (file, function): (&'a File, &'a Function),
        given: Vec<Item>,
        named: Vec<(Arc<str>, Item)>,
    ) -> Result<Item, Fault> {
        if given.len() > function.params.len() {
            return Err(format!("`{}` is called with too many arguments", function.name).into());
        }
        let mut variables = Variables::default();
        variables.extend(named);
        variables.extend(function.params.iter().map(|param| param.name.clone()).zip(given));
        for param in &function.params {
            if !variables.contains_key(&param.name) {
                let default = param.default.as_ref();
                let default = default.ok_or_else(|| {
                    format!("the argument `{}` of `{}` is missing", param.name, function.name)
                })?;
                let default = self.evaluate(default, &mut Variables::default())?;
                variables.insert(param.name.clone(), default);
            }
        }
        self.calls += 1;
        if self.calls > MAX_CALLS {
            return Err("its calls are nested too deeply".into());
        }
        if variables.values().any(Item::is_deep) {
            return Err(TOO_DEEP.into());
        }
        let outer = (self.recorder.place.clone(), self.file);
        self.file = Some(file).filter(|file| !file.path.is_empty());
        if self.file.is_some() {
            self.recorder.place = Some(place(file, function, 0));
        }
        let flow = self.block(&function.body, &mut variables);
        (self.recorder.place, self.file) = outer;
        self.calls -= 1;
        match flow? {
            Flow::Return(item) if item.is_deep() => Err(TOO_DEEP.into()),
            Flow::Return(item) => Ok(item),
            Flow::Next => Ok(Item::None),
        }
    }

    /// Returns true if the current function is code of PyTorch.
    pub fn is_in_torch(&self) -> bool {
        self.file.is_none_or(|file| file.path.starts_with("code/__torch__/torch/nn/"))
    }

    /// Counts work on lists, strings and copies.
    ///
    /// # Errors
    /// Returns the reason why the interpretation ends.
    pub fn charge(&mut self, amount: usize) -> Result<(), &'static str> {
        self.work = self.work.saturating_add(amount);
        if self.work > MAX_WORK { Err("its lists and branches take too many steps") } else { Ok(()) }
    }

    /// Runs a step of the evaluation, unless steps are nested too deeply.
    pub fn nested<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err("its calls are nested too deeply".into());
        }
        let result = run(self);
        self.nesting -= 1;
        result
    }

    /// Runs statements in order.
    pub fn block(&mut self, body: &'a [Statement], variables: &mut Variables) -> Result<Flow, Fault> {
        self.nested(|own| own.statements(body, variables))
    }

    fn statements(&mut self, body: &'a [Statement], variables: &mut Variables) -> Result<Flow, Fault> {
        for statement in body {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Err(self.located(Fault::from("its loops have too many rounds")));
            }
            if self.recorder.trace.nodes.len().max(self.recorder.trace.values.len()) > MAX_VALUES {
                return Err(self.located(Fault::from("it calls too many operators")));
            }
            if let (Some(place), Some(file)) = (self.recorder.place.as_mut(), self.file) {
                place.line = statement.line;
                place.code = file.line(statement.line).map(Into::into);
            }
            match self.statement(statement, variables) {
                Ok(Flow::Next) => {}
                Ok(Flow::Return(item)) => return Ok(Flow::Return(item)),
                Err(fault) => return Err(self.located(fault)),
            }
        }
        Ok(Flow::Next)
    }

    /// Adds the current location to a fault that has none.
    fn located(&self, fault: Fault) -> Fault {
        let Fault::Plain(why) = fault else { return fault };
        let place = self.recorder.place.clone().map_or(Place::File, Place::Source);
        let finding = rule_ids::NOT_CONVERTIBLE.finding(format!("the code is not supported: {why}"), place);
        let help = "rewrite this code in Python, trace the module by `torch.jit.trace`, or export it by `torch.export`";
        Fault::Found(vec![finding.help(help)])
    }

    fn statement(&mut self, statement: &'a Statement, variables: &mut Variables) -> Result<Flow, Fault> {
        match &statement.kind {
            Kind::Pass => {}
            Kind::Evaluate(expression) => drop(self.evaluate(expression, variables)?),
            Kind::Return(value) => return Ok(Flow::Return(self.evaluate(value, variables)?)),
            Kind::Assign(target, value) => {
                let value = self.evaluate(value, variables)?;
                self.assign(target, value, variables)?;
            }
            Kind::If(condition, yes, no) => {
                let condition = self.evaluate(condition, variables)?;
                return match self.truth(&condition)? {
                    Some(true) => self.block(yes, variables),
                    Some(false) => self.block(no, variables),
                    None => self.branch(&condition, yes, no, variables),
                };
            }
            Kind::For(variable, count, body) => {
                let count = self.evaluate(count, variables)?;
                let Some(count) = count.int() else {
                    return self.counted_loop(variable, &count, body, variables);
                };
                for round in 0..count {
                    variables.insert(variable.clone(), Item::Int(round));
                    if let Flow::Return(item) = self.block(body, variables)? {
                        return Ok(Flow::Return(item));
                    }
                }
            }
            Kind::While(condition, body) => return self.while_loop(condition, body, variables),
        }
        Ok(Flow::Next)
    }

    fn while_loop(
        &mut self,
        condition: &'a Expression,
        body: &'a [Statement],
        variables: &mut Variables,
    ) -> Result<Flow, Fault> {
        loop {
            let again = self.evaluate(condition, variables)?;
            match self.truth(&again)? {
                Some(true) => {
                    if let Flow::Return(item) = self.block(body, variables)? {
                        return Ok(Flow::Return(item));
                    }
                }
                Some(false) => return Ok(Flow::Next),
                None => return self.computed_loop(condition, body, variables),
            }
        }
    }

    /// Assigns a value to a variable, an attribute, or to the members of a tuple.
    fn assign(
        &mut self,
        target: &'a Expression,
        value: Item,
        variables: &mut Variables,
    ) -> Result<(), Fault> {
        match target {
            _ if value.is_deep() => return Err(TOO_DEEP.into()),
            Expression::Name(name) => {
                self.recorder.assigned(&value, name);
                variables.insert(name.clone(), value);
            }
            Expression::Tuple(targets) => {
                let members = self.unpacked(value, targets.len())?;
                for (target, member) in targets.iter().zip(members) {
                    self.assign(target, member, variables)?;
                }
            }
            Expression::Attribute(object, name) => {
                let Item::Object(object) = self.evaluate(object, variables)? else {
                    return Err("it sets an attribute of an object that is not a module".into());
                };
                self.set_attribute(object, name, value)?;
            }
            _ => return Err("it assigns to an expression that is not a variable".into()),
        }
        Ok(())
    }

    /// Returns the members of a tuple or list that is assigned to `count` targets.
    fn unpacked(&self, value: Item, count: usize) -> Result<Vec<Item>, Fault> {
        match value.members() {
            Some(members) if members.len() == count => Ok(members),
            Some(members) => {
                Err(format!("it unpacks {} values into {count} variables", members.len()).into())
            }
            None => Err(format!("it unpacks {}", value.kind()).into()),
        }
    }

    /// Sets an attribute of a module.
    fn set_attribute(&mut self, object: ObjectId, name: &Arc<str>, value: Item) -> Result<(), Fault> {
        if self.recorder.depth > 0 {
            return Err(
                format!("it sets the attribute `{name}` in a branch or loop that depends on data").into()
            );
        }
        // A constant attribute is equal in every run only if the code sets it to the value that it has.
        let before = self.attribute(object, name)?;
        if before.equals(&value) != Some(true) {
            return Err(
                format!("it stores a value in the attribute `{name}`, which later runs would read").into()
            );
        }
        self.attributes.insert((object, name.clone()), value);
        Ok(())
    }

    /// Returns findings for a fault.
    pub fn findings(&self, fault: Fault) -> Vec<Finding> {
        match self.located(fault) {
            Fault::Found(findings) => findings,
            Fault::Raised(message) => {
                let message =
                    format!("the program is not supported: it raises \"{message}\" for these inputs");
                vec![rule_ids::NOT_CONVERTIBLE.finding(message, Place::File)]
            }
            Fault::Shapes(example) => {
                let message = "the archive does not record the shapes of its inputs";
                let help = format!("declare them, with names for dynamic sizes: `{example}`");
                vec![rule_ids::NOT_CONVERTIBLE.finding(message, Place::File).help(help)]
            }
            Fault::Plain(_) => Vec::new(),
        }
    }
}

fn place(file: &File, function: &Function, line: u32) -> SourcePlace {
    SourcePlace {
        file: file.path.clone(),
        line,
        column: 0,
        width: 0,
        code: None,
        function: Some(function.name.clone()),
        cell: None,
    }
}
