//! Numbers of a replay, compared with those of the natural run.

use tree_sitter::Node;

use super::calls::Args;
use super::machine::Machine;
use super::record::{Record, Taken};
use super::value::Value;

/// Maximum number of numbers that are replayed alone.
const MAX_CULPRITS: usize = 4;

/// Least change of a number that rounding does not hide.
const LEAST_CHANGE: f64 = 1e-3;

/// Comparison of a number with that of the natural run.
pub enum Number {
    Same,
    Differs,
    /// The runs took other paths, so that the number has no counterpart.
    Lost,
}

impl<'t> Machine<'t> {
    /// Returns true if all numbers in `values` equal those of the natural run, and no value is unknown.
    pub fn are_known(&mut self, values: &[Value<'t>], node: Node<'t>) -> bool {
        let mut are_known = true;
        for value in values {
            are_known &= match value {
                Value::Int(_) | Value::Float(_) => {
                    let number = value.number().unwrap_or_default();
                    matches!(self.compared(number, node), Number::Same)
                }
                Value::Tuple(items) => self.are_known(items, node),
                Value::Slice(bounds) => self.are_known(&bounds[..], node),
                Value::Object(_) => self.items(value).is_some_and(|items| self.are_known(&items, node)),
                Value::Range(..) | Value::Unknown => false,
                _ => true,
            };
        }
        are_known
    }

    /// Records a number at `node`, and compares it with that of the natural run.
    pub fn compared(&mut self, number: f64, node: Node<'t>) -> Number {
        let file = self.file();
        let Some(record) = &mut self.record else { return Number::Same };
        let natural = record.natural.get(record.operands.len()).copied();
        record.operands.push((file, node, number));
        match natural {
            _ if record.at.is_none() => Number::Same,
            Some((other_file, other, natural)) if (other_file, other) == (file, node) && !record.is_lost => {
                let change = (natural - number).abs();
                if natural == number {
                    Number::Same
                } else if change > LEAST_CHANGE && change > LEAST_CHANGE * number.abs() {
                    Number::Differs
                } else {
                    Number::Lost
                }
            }
            _ => {
                record.is_lost = true;
                Number::Lost
            }
        }
    }

    /// Returns the expressions of the numbers that each alone change an output of a replay.
    ///
    /// `example` and `natural` are the runs with the example and with other sizes, which are `values`.
    pub fn culprits(
        &mut self,
        model: &Value<'t>,
        values: &[Value<'t>],
        args: &Args<'t>,
        (example, natural, replay): (&Record<'t>, &Record<'t>, &Record<'t>),
    ) -> Vec<Node<'t>> {
        let mut nodes: Vec<Node<'t>> = vec![];
        for (kind, _, node, _) in &replay.differing {
            if matches!(kind, Taken::Number | Taken::Float | Taken::Turns) && !nodes.contains(node) {
                nodes.push(*node);
            }
        }
        let pairs: Vec<_> = example.numbers.iter().zip(&natural.numbers).collect();
        let is_aligned = example.numbers.len() == natural.numbers.len()
            && pairs.iter().all(|(a, b)| (a.0, a.1) == (b.0, b.1));
        if nodes.len() < 2 {
            return nodes;
        }
        if nodes.len() > MAX_CULPRITS || !is_aligned {
            return vec![];
        }
        nodes.retain(|node| {
            let numbers = pairs.iter().map(|(a, b)| if a.1 == node.id() { **a } else { **b }).collect();
            let natural = natural.operands.clone();
            self.record = Some(Record { numbers, at: Some(0), natural, ..Record::default() });
            let replayed = self.quiet_run(model, values.to_vec(), args);
            self.record = None;
            replayed.is_ok_and(|replayed| self.deviates(&replayed))
        });
        nodes
    }
}
