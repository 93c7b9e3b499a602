//! Branches whose conditions depend on data.

use std::rc::Rc;

use super::fault::Fault;
use super::interpreter::{Flow, Interpreter, Variables};
use super::item::Item;
use super::item::{List, MERGED};
use super::recorder::{dim_of, tensor};
use crate::graph::{ElemType, Tensor};
use crate::read::jit::ast::Statement;
use crate::torch::{Argument, BlockId, Input, Op, Type, ValueId};

impl<'a> Interpreter<'a> {
    /// Records a branch whose condition is computed.
    ///
    /// If one side raises an exception, the other side is taken, as in every successful run.
    pub fn branch(
        &mut self,
        condition: &Item,
        yes: &'a [Statement],
        no: &'a [Statement],
        variables: &mut Variables,
    ) -> Result<Flow, Fault> {
        let condition = self.builtin("bool", vec![condition.clone()])?;
        let condition = self.argument(&condition)?;
        let before = self.snapshot()?;
        let [first, second] = match (self.side(yes, variables), self.side(no, variables)) {
            (Err(Fault::Raised(_)), Ok(_)) => {
                self.restore(before);
                return self.block(no, variables);
            }
            (Ok(_), Err(Fault::Raised(_))) => {
                self.restore(before);
                return self.block(yes, variables);
            }
            (first, second) => [first?, second?],
        };
        let (mut outputs, mut merged) = (Outputs::default(), Variables::default());
        // The order of the outputs does not depend on that of the hash table.
        let mut names: Vec<_> = first.variables.iter().collect();
        names.sort_by_key(|(name, _)| *name);
        for (name, a) in names {
            let Some(b) = second.variables.get(name) else { continue };
            // A variable may hold objects of different kinds if no later statement reads it.
            let item = self.merge(a, b, [first.block, second.block], &mut outputs);
            merged.insert(name.clone(), item.unwrap_or_else(|why| Item::Unmerged(why.into())));
        }
        let returned = match (&first.returned, &second.returned) {
            (None, None) => None,
            (Some(a), Some(b)) => Some(self.merge(a, b, [first.block, second.block], &mut outputs)?),
            _ => return Err("it returns in one side of a branch that depends on data".into()),
        };
        variables.extend(merged);
        self.cond(condition, [first.block, second.block], outputs);
        Ok(returned.map_or(Flow::Next, Flow::Return))
    }

    /// Runs one side of a branch in a block of its own.
    fn side(&mut self, body: &'a [Statement], variables: &Variables) -> Result<Side, Fault> {
        let outer = self.recorder.open();
        let mut variables = variables.clone();
        let flow = self.block(body, &mut variables);
        let block = self.recorder.close(outer);
        let returned = match flow? {
            Flow::Next => None,
            Flow::Return(item) => Some(item),
        };
        Ok(Side { block, variables, returned })
    }

    /// Records the node of a branch; its results are the merged values.
    fn cond(&mut self, condition: Argument, blocks: [BlockId; 2], outputs: Outputs) {
        for (block, values) in blocks.into_iter().zip(outputs.values) {
            for value in &values {
                self.recorder.share(*value);
            }
            self.recorder.trace.blocks[block.index()].outputs =
                values.into_iter().map(Argument::Value).collect();
        }
        let inputs = vec![Input { name: None, argument: condition }];
        self.recorder.subgraphs(Op::parse("torch.ops.higher_order.cond"), inputs, blocks, outputs.results);
    }

    /// Merges the values of a variable on both sides; the result of the branch gets a new value.
    fn merge(
        &mut self,
        a: &Item,
        b: &Item,
        blocks: [BlockId; 2],
        outputs: &mut Outputs,
    ) -> Result<Item, String> {
        if is_same(a, b) {
            return Ok(a.clone());
        }
        self.charge(1 + a.length() + b.length())?;
        if let (Some(x), Some(y)) = (a.members(), b.members()) {
            if x.len() != y.len() {
                return Err("a branch that depends on data makes lists of different lengths".to_owned());
            }
            let members = x.iter().zip(&y).map(|(a, b)| self.merge(a, b, blocks, outputs));
            let members = members.collect::<Result<Vec<_>, _>>()?;
            return Ok(if matches!(a, Item::Tuple(_)) {
                Item::Tuple(Rc::new(members.into()))
            } else {
                // Other references may be to the list of one side, which the merged list does not change.
                for side in [a, b] {
                    if let Item::List(list) = side {
                        list.state.freeze();
                    }
                }
                Item::List(List::new(members, MERGED))
            });
        }
        let (a, b) = (self.merged_value(a, b, blocks[0])?, self.merged_value(b, a, blocks[1])?);
        let ty = self.common_type(a, b)?;
        let is_tensor = matches!(ty, Type::Tensor(_));
        let result = self.recorder.pending("branch", ty);
        self.recorder.share(result);
        outputs.values[0].push(a);
        outputs.values[1].push(b);
        outputs.results.push(result);
        Ok(if is_tensor { Item::Tensor(result) } else { Item::Computed(result) })
    }

    /// Returns one side's value of a merged variable.
    ///
    /// An uninitialized value, which is never read, becomes zeros.
    fn merged_value(&mut self, item: &Item, other: &Item, block: BlockId) -> Result<ValueId, String> {
        if !matches!(item, Item::Uninitialized) {
            let outer = std::mem::replace(&mut self.recorder.block, block);
            let value = self.as_value(item);
            self.recorder.block = outer;
            return value;
        }
        let like = self.as_value(other)?;
        let ty = self.recorder.ty(like).clone();
        let (elem, dims) = match &ty {
            Type::Tensor(tensor) => {
                let sizes = tensor
                    .shape
                    .as_ref()
                    .map(|sizes| sizes.iter().map(|size| size.fixed()).collect::<Option<Vec<_>>>());
                (tensor.elem, sizes.flatten())
            }
            Type::Int => (Some(ElemType::Int64), Some(Vec::new())),
            Type::Bool => (Some(ElemType::Bool), Some(Vec::new())),
            _ => (Some(ElemType::Double), Some(Vec::new())),
        };
        let unknown = "a variable is uninitialized on one side of a branch that depends on data";
        let (elem, dims) = elem.zip(dims).ok_or(unknown)?;
        let outer = std::mem::replace(&mut self.recorder.block, block);
        let size = Argument::List(dims.iter().map(|dim| Argument::Int(*dim)).collect());
        let inputs = vec![
            Input { name: Some("size".into()), argument: size },
            Input { name: Some("dtype".into()), argument: Argument::Elem(elem) },
        ];
        let zeros = self.recorder.node(Op::parse("aten::zeros"), inputs, vec![ty]);
        self.recorder.block = outer;
        Ok(zeros[0])
    }

    /// Returns a tensor or number as a value of the trace.
    pub fn as_value(&mut self, item: &Item) -> Result<ValueId, String> {
        let constant = match item {
            Item::Tensor(value) | Item::Computed(value) => return Ok(*value),
            Item::Bool(truth) => Tensor::from_raw(ElemType::Bool, Vec::new(), vec![u8::from(*truth)]),
            Item::Int(int) => Tensor::int64s(Vec::new(), &[*int]),
            Item::Float(float) => {
                Tensor::from_raw(ElemType::Double, Vec::new(), float.to_le_bytes().to_vec())
            }
            Item::Scalar(..) => match self.argument(item) {
                Ok(Argument::Value(value)) => return Ok(value),
                _ => return Err("a 0-d tensor has no number".to_owned()),
            },
            other => {
                return Err(format!(
                    "a branch or loop that depends on data sets a variable to {}",
                    other.kind()
                ));
            }
        };
        let ty = match item {
            Item::Bool(_) => Type::Bool,
            Item::Int(_) => Type::Int,
            _ => Type::Float,
        };
        Ok(self.recorder.lift_as("constant", constant, ty))
    }

    /// Returns a type that holds for two values.
    pub fn common_type(&self, a: ValueId, b: ValueId) -> Result<Type, String> {
        let [x, y] = [a, b].map(|value| self.recorder.ty(value));
        let (Type::Tensor(x), Type::Tensor(y)) = (x, y) else {
            return match x == y {
                true => Ok(x.clone()),
                false => {
                    Err("a branch or loop that depends on data sets a variable to values of different types"
                        .to_owned())
                }
            };
        };
        if x.elem != y.elem {
            return Err(
                "a branch or loop that depends on data sets a variable to tensors of different dtypes"
                    .to_owned(),
            );
        }
        let sizes = match (&x.shape, &y.shape) {
            (Some(x), Some(y)) if x.len() == y.len() => {
                let size = |(x, y): (&_, &_)| if x == y { dim_of(x) } else { None };
                Some(x.iter().zip(y).map(size).collect::<Vec<_>>())
            }
            _ => None,
        };
        Ok(tensor(x.elem, sizes.as_deref()))
    }
}

/// Result of one side of a branch.
struct Side {
    block: BlockId,
    variables: Variables,
    returned: Option<Item>,
}

/// Values that the sides of a branch return, and the results of the branch.
#[derive(Default)]
struct Outputs {
    values: [Vec<ValueId>; 2],
    results: Vec<ValueId>,
}

/// Returns true if both sides have left a variable as it was, or have set it to equal constants.
fn is_same(a: &Item, b: &Item) -> bool {
    match (a, b) {
        (Item::Tensor(a), Item::Tensor(b)) | (Item::Computed(a), Item::Computed(b)) => a == b,
        (Item::Scalar(x, a), Item::Scalar(y, b)) => x == y && is_same(a, b),
        (Item::List(a), Item::List(b)) => Rc::ptr_eq(a, b),
        (Item::Tuple(a), Item::Tuple(b)) => Rc::ptr_eq(a, b),
        (Item::Dict(a), Item::Dict(b)) => Rc::ptr_eq(a, b),
        (Item::Function(a), Item::Function(b)) => a == b,
        (Item::Uninitialized, Item::Uninitialized) => true,
        (Item::Float(a), Item::Float(b)) => a.to_bits() == b.to_bits(),
        (Item::Int(_), Item::Float(_) | Item::Bool(_)) | (Item::Float(_) | Item::Bool(_), Item::Int(_)) => {
            false
        }
        (Item::Bool(_), Item::Float(_)) | (Item::Float(_), Item::Bool(_)) => false,
        (Item::List(_) | Item::Tuple(_), _) | (_, Item::List(_) | Item::Tuple(_)) => false,
        (a, b) => a.equals(b) == Some(true),
    }
}
