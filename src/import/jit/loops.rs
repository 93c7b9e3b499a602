//! Loops whose number of rounds depends on data.

use std::sync::Arc;

use super::fault::Fault;
use super::interpreter::{Flow, Interpreter, Variables};
use super::item::Item;
use crate::read::jit::ast::{Expression, Kind, Statement};
use crate::torch::{Argument, BlockId, Input, Op, Type, ValueId};

/// Number of times that the types of the carried values are widened.
const MAX_WIDENINGS: usize = 4;

/// Condition of a loop.
#[derive(Clone, Copy)]
enum Rounds<'a> {
    While(&'a Expression),
    /// Variable and number of rounds.
    Count(&'a Arc<str>, &'a Item),
}

impl<'a> Interpreter<'a> {
    /// Records a loop whose number of rounds is computed.
    pub fn counted_loop(
        &mut self,
        variable: &'a Arc<str>,
        count: &Item,
        body: &'a [Statement],
        variables: &mut Variables,
    ) -> Result<Flow, Fault> {
        let count = count.clone();
        let counter: Arc<str> = format!("<round {}>", self.recorder.depth).into();
        variables.insert(counter.clone(), Item::Int(0));
        let mut names = carried(body, variables);
        names.push(counter.clone());
        self.recorded_loop(Rounds::Count(variable, &count), body, &names, variables)?;
        variables.remove(&counter);
        Ok(Flow::Next)
    }

    /// Records a loop whose condition is computed.
    pub fn computed_loop(
        &mut self,
        condition: &'a Expression,
        body: &'a [Statement],
        variables: &mut Variables,
    ) -> Result<Flow, Fault> {
        let names = carried(body, variables);
        self.recorded_loop(Rounds::While(condition), body, &names, variables)?;
        Ok(Flow::Next)
    }

    fn recorded_loop(
        &mut self,
        rounds: Rounds<'_>,
        body: &'a [Statement],
        names: &[Arc<str>],
        variables: &mut Variables,
    ) -> Result<(), Fault> {
        let mut initial = Vec::new();
        for name in names {
            let value = self.as_value(&variables[name])?;
            self.recorder.share(value);
            initial.push(value);
        }
        let mut types: Vec<Type> = initial.iter().map(|value| self.recorder.ty(*value).clone()).collect();
        for _ in 0..MAX_WIDENINGS {
            let before = self.snapshot()?;
            let test = self.test_block(rounds, names, &types, variables)?;
            let (block, last) = self.body_block(rounds, body, names, &types, variables)?;
            let wider = self.widened(&types, &last)?;
            if wider != types {
                self.restore(before);
                types = wider;
                continue;
            }
            for value in &last {
                self.recorder.share(*value);
            }
            let carried = Argument::List(initial.into_iter().map(Argument::Value).collect());
            let inputs = [carried, Argument::List(Vec::new())];
            let inputs = inputs.into_iter().map(|argument| Input { name: None, argument }).collect();
            let results: Vec<ValueId> =
                types.into_iter().map(|ty| self.recorder.pending("loop", ty)).collect();
            let op = Op::parse("torch.ops.higher_order.while_loop");
            for (name, &result) in names.iter().zip(&results) {
                self.recorder.share(result);
                variables.insert(name.clone(), self.as_item(result));
            }
            self.recorder.subgraphs(op, inputs, [test, block], results);
            return Ok(());
        }
        Err("the types of the values that its loop carries change in every round".into())
    }

    /// Records the condition of a loop.
    fn test_block(
        &mut self,
        rounds: Rounds<'_>,
        names: &[Arc<str>],
        types: &[Type],
        variables: &Variables,
    ) -> Result<BlockId, Fault> {
        let outer = self.recorder.open();
        let mut inner = self.enter(names, types, variables);
        let again = match rounds {
            Rounds::While(condition) => self.condition(condition, &mut inner),
            Rounds::Count(_, count) => {
                let round = names.last().map_or(Item::None, |name| inner[name].clone());
                self.number_op("lt", &[round, count.clone()]).map(|again| again.unwrap_or(Item::None))
            }
        };
        let again = again.and_then(|again| self.builtin("bool", vec![again]));
        let again = again.and_then(|again| Ok(self.as_value(&again)?));
        let block = self.recorder.close(outer);
        self.recorder.trace.blocks[block.index()].outputs = vec![Argument::Value(again?)];
        Ok(block)
    }

    /// Evaluates the condition of a loop, which is a variable.
    fn condition(&mut self, condition: &Expression, variables: &mut Variables) -> Result<Item, Fault> {
        match condition {
            Expression::Name(name) => {
                Ok(variables.get(name).cloned().ok_or_else(|| format!("`{name}` is not defined"))?)
            }
            Expression::Bool(truth) => Ok(Item::Bool(*truth)),
            _ => Err("the condition of its loop is not a variable".into()),
        }
    }

    /// Records one round of a loop; returns its block and the carried values at its end.
    fn body_block(
        &mut self,
        rounds: Rounds<'_>,
        body: &'a [Statement],
        names: &[Arc<str>],
        types: &[Type],
        variables: &Variables,
    ) -> Result<(BlockId, Vec<ValueId>), Fault> {
        let outer = self.recorder.open();
        let mut inner = self.enter(names, types, variables);
        let made = self.round(rounds, body, names, &mut inner);
        let block = self.recorder.close(outer);
        let last = made?;
        self.recorder.trace.blocks[block.index()].outputs =
            last.iter().copied().map(Argument::Value).collect();
        Ok((block, last))
    }

    fn round(
        &mut self,
        rounds: Rounds<'_>,
        body: &'a [Statement],
        names: &[Arc<str>],
        inner: &mut Variables,
    ) -> Result<Vec<ValueId>, Fault> {
        if let (Rounds::Count(variable, _), Some(counter)) = (rounds, names.last()) {
            inner.insert(variable.clone(), inner[counter].clone());
        }
        if let Flow::Return(_) = self.block(body, inner)? {
            return Err("it returns in a loop that depends on data".into());
        }
        if let (Rounds::Count(..), Some(counter)) = (rounds, names.last()) {
            let next = self.number_op("add", &[inner[counter].clone(), Item::Int(1)])?;
            inner.insert(counter.clone(), next.unwrap_or(Item::None));
        }
        names.iter().map(|name| Ok(self.as_value(&inner[name])?)).collect()
    }

    /// Adds an input to the current block for each carried value.
    fn enter(&mut self, names: &[Arc<str>], types: &[Type], variables: &Variables) -> Variables {
        let mut inner = variables.clone();
        for (name, ty) in names.iter().zip(types) {
            let value = self.recorder.input("carried", ty.clone());
            self.recorder.share(value);
            inner.insert(name.clone(), self.as_item(value));
        }
        inner
    }

    /// Returns types that hold before and after a round.
    fn widened(&mut self, types: &[Type], last: &[ValueId]) -> Result<Vec<Type>, String> {
        let one = |(ty, value): (&Type, &ValueId)| {
            let before = self.recorder.pending("carried", ty.clone());
            self.common_type(before, *value)
        };
        types.iter().zip(last).map(one).collect()
    }

    fn as_item(&self, value: ValueId) -> Item {
        match self.recorder.ty(value) {
            Type::Tensor(_) => Item::Tensor(value),
            _ => Item::Computed(value),
        }
    }
}

/// Returns the variables that statements assign and that have a value before the statements.
fn carried(body: &[Statement], variables: &Variables) -> Vec<Arc<str>> {
    fn targets(target: &Expression, into: &mut Vec<Arc<str>>) {
        match target {
            Expression::Name(name) => into.push(name.clone()),
            Expression::Tuple(members) => members.iter().for_each(|member| targets(member, into)),
            _ => {}
        }
    }
    fn assigned(body: &[Statement], into: &mut Vec<Arc<str>>) {
        for statement in body {
            match &statement.kind {
                Kind::Assign(target, _) => targets(target, into),
                Kind::If(_, yes, no) => {
                    assigned(yes, into);
                    assigned(no, into);
                }
                Kind::While(_, body) => assigned(body, into),
                Kind::For(variable, _, body) => {
                    into.push(variable.clone());
                    assigned(body, into);
                }
                _ => {}
            }
        }
    }
    let mut names = Vec::new();
    assigned(body, &mut names);
    names.retain(|name| variables.contains_key(name));
    names.sort();
    names.dedup();
    names
}
