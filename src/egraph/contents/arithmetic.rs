//! Contents of operators that compute elements.

use super::blocks::{Block, all_sizes, blocks, sizes};
use super::reading::Reading;
use super::{Content, Contents, Key};
use crate::graph::dim::Dim;
use crate::infer::{Size, eval};
use crate::schema::operator;
use crate::schema::operator::Operands;

/// Operators that compute along one axis, whose place among the others does not matter.
const ALONG_AXIS: [&str; 6] = ["ArgMax", "ArgMin", "Hardmax", "LogSoftmax", "LpNormalization", "Softmax"];

impl Contents {
    /// Returns the content of a computed output.
    pub(super) fn computed(&mut self, of: &Reading, op: &str) -> Option<Content> {
        let operands = operator("", op)?.operands;
        if operands == Operands::One && of.call.inputs == 1 {
            let operands = vec![self.of(of.input(0)?)];
            return Some(self.defined(Key { op: of.named(op, &[]), operands, sizes: Vec::new() }));
        }
        if op == "Clip" {
            return self.clipped(of);
        }
        // Before opset 7, broadcasting had other rules.
        if operator("", op)?.broadcasts() && of.epoch() >= 7 {
            let inputs = of.inputs()?;
            let mut operands = Vec::new();
            let mut unexpanded = Vec::new();
            for input in inputs {
                operands.push((self.of(input), of.dims(input)?.to_vec()));
                unexpanded.push(self.before_expand(of.egraph, input)?);
            }
            let commutes = self.commutes(op, operands.len());
            let (op, own) = (of.named(op, &[]), of.own_dims());
            let by_small =
                (unexpanded != operands).then(|| self.broadcast(&op, unexpanded, own, commutes)).flatten();
            let content = self.broadcast(&op, operands, own, commutes);
            if let (Some(content), Some(by_small)) = (content, by_small) {
                self.equate(content, by_small);
            }
            return content.or(by_small);
        }
        if !self.rounds {
            return None;
        }
        match op {
            "MatMul" => {
                let (a, b) = (of.input(0)?, of.input(1)?);
                let (left, right) = (self.of(a), self.of(b));
                self.product((left, of.dims(a)?), (right, of.dims(b)?))
            }
            "Gemm" => self.gemm(of),
            "GlobalAveragePool" => self.reduced(of, "ReduceMean", None),
            "GlobalMaxPool" => self.reduced(of, "ReduceMax", None),
            "LayerNormalization" if of.index == 0 => self.normalized(of),
            "BatchNormalization" if of.index == 0 && of.int("training_mode", 0) == 0 => {
                self.by_channel(of, op)
            }
            "InstanceNormalization" => self.by_channel(of, op),
            _ if op.starts_with("Reduce") => {
                let axes = of.list("axes", 1)?.unwrap_or_default();
                if axes.is_empty() && of.int("noop_with_empty_axes", 0) != 0 {
                    return None;
                }
                self.reduced(of, op, Some(axes))
            }
            _ if ALONG_AXIS.contains(&op) || op == "CumSum" => self.along_axis(of, op),
            _ => None,
        }
    }

    /// Returns true if the order of the operands does not matter.
    ///
    /// Sums of more than two numbers differ by rounding.
    fn commutes(&self, op: &str, operands: usize) -> bool {
        operator("", op).is_some_and(|operator| operator.commutes(self.rounds))
            && (operands <= 2 || self.rounds)
    }

    fn clipped(&mut self, of: &Reading) -> Option<Content> {
        let mut operands = Vec::new();
        let mut present = String::new();
        for index in 0..usize::from(of.call.inputs) {
            if let Some(input) = of.input(index) {
                operands.push(self.of(input));
                present += &format!(" {index}");
            }
        }
        Some(self.defined(Key { op: of.named("Clip", &[]) + &present, operands, sizes: Vec::new() }))
    }

    /// Returns the content of an operator whose operands broadcast to one shape.
    pub(super) fn broadcast(
        &mut self,
        op: &str,
        mut operands: Vec<(Content, Vec<Size>)>,
        own: Option<&[Size]>,
        commutes: bool,
    ) -> Option<Content> {
        if commutes {
            operands.sort_by_key(|(content, dims)| (*content, dims.len()));
        }
        let axes = broadcast_axes(operands.iter().map(|(_, dims)| dims.as_slice()).collect(), own)?;
        let blocks = blocks(axes);
        let roles: String = blocks.iter().map(|block| format!(" {:b}", block.role)).collect();
        // No operand determines the size of an axis along which all are repeated.
        let is_new = |block: &Block<u64>| block.role.count_ones() as usize == operands.len();
        let mut sizes =
            if blocks.first().is_some_and(is_new) { all_sizes(&blocks)? } else { sizes(&blocks)? };
        sizes.push(Dim::known(operands.len() as i64));
        let operands = operands.into_iter().map(|(content, _)| content).collect();
        Some(self.defined(Key { op: format!("{op}{roles}"), operands, sizes }))
    }

    /// Returns the content of a matrix product.
    fn product(&mut self, (a, in_a): (Content, &[Size]), (b, in_b): (Content, &[Size])) -> Option<Content> {
        let ([outer_a @ .., m, k], [outer_b @ .., k_of_b, n]) = (in_a, in_b) else { return None };
        let k = k.clone().or_else(|| k_of_b.clone())?;
        let blocks = blocks(broadcast_axes(vec![outer_a, outer_b], None)?);
        // Rows of several matrices that are multiplied by one matrix are rows of one matrix.
        let is_by_one = blocks.iter().all(|block| block.role == 2) && k.as_const().is_some_and(|k| k > 0);
        let operands = vec![a, b];
        if is_by_one {
            let op = "product by matrix".to_owned();
            return Some(self.defined(Key { op, operands, sizes: vec![k, n.clone()?] }));
        }
        let roles: String = blocks.iter().map(|block| format!(" {:b}", block.role)).collect();
        let (m, n) = (m.clone()?, n.clone()?);
        // The number of elements of an operand determines how many matrices there are.
        let is_positive = [&m, &k, &n].iter().all(|size| size.as_const().is_some_and(|size| size > 0));
        let counts = if is_positive { sizes(&blocks)? } else { all_sizes(&blocks)? };
        let sizes = counts.into_iter().chain([m, k, n]).collect();
        Some(self.defined(Key { op: format!("product{roles}"), operands, sizes }))
    }

    fn gemm(&mut self, of: &Reading) -> Option<Content> {
        let is_plain = ["alpha", "beta"].iter().all(|name| of.attr(name).is_none());
        if !is_plain || of.epoch() < 7 {
            return None;
        }
        let mut turned = |index: usize, name: &str| -> Option<(Content, Vec<Size>)> {
            let input = of.input(index)?;
            let (content, dims) = (self.of(input), of.dims(input)?);
            let [rows, columns] = dims else { return None };
            Some(match of.int(name, 0) {
                0 => (content, dims.to_vec()),
                _ => (self.transposed(content, dims, &[1, 0])?, vec![columns.clone(), rows.clone()]),
            })
        };
        let (a, b) = (turned(0, "transA")?, turned(1, "transB")?);
        let product = self.product((a.0, &a.1), (b.0, &b.1))?;
        let Some(bias) = of.input(2) else { return Some(product) };
        let operands =
            vec![(product, vec![a.1[0].clone(), b.1[1].clone()]), (self.of(bias), of.dims(bias)?.to_vec())];
        self.broadcast("Add", operands, None, true)
    }

    /// Returns the content of a reduction over these axes, or over all from the third on.
    fn reduced(&mut self, of: &Reading, op: &str, axes: Option<Vec<i64>>) -> Option<Content> {
        let x = of.input(0)?;
        let dims = of.dims(x)?;
        let axes: Vec<usize> = match axes {
            None => (2..dims.len()).collect(),
            Some(axes) if axes.is_empty() => (0..dims.len()).collect(),
            Some(axes) => axes.iter().map(|&axis| eval::index(axis, dims.len())).collect::<Option<_>>()?,
        };
        let blocks = blocks(dims.iter().enumerate().map(|(axis, size)| (size.clone(), axes.contains(&axis))));
        let roles: String = blocks.iter().map(|block| if block.role { '-' } else { '=' }).collect();
        let operands = vec![self.of(x)];
        let op = of.named(op, &["axes", "keepdims", "noop_with_empty_axes"]);
        let sizes = sizes(&blocks)?;
        Some(self.defined(Key { op: format!("{op} {roles}"), operands, sizes }))
    }

    fn along_axis(&mut self, of: &Reading, op: &str) -> Option<Content> {
        let is_new = of.epoch() >= 13 || !matches!(op, "Hardmax" | "LogSoftmax" | "Softmax");
        let x = of.input(0).filter(|_| is_new)?;
        let dims = of.dims(x)?;
        let default = if op.starts_with("Arg") { 0 } else { -1 };
        let axis = match op {
            "CumSum" => eval::index(*of.fact(of.input(1)?).as_const()?.as_i64s().ok()?.first()?, dims.len())?,
            _ => of.axis(default, dims.len())?,
        };
        let blocks = apart(dims, axis..axis + 1);
        let sizes = sizes(&blocks)?;
        let op = of.named(op, &["axis", "keepdims"]);
        let operands = vec![self.of(x)];
        Some(self.defined(Key { op: op + &roles(&blocks), operands, sizes }))
    }

    /// Returns the content of a LayerNormalization whose weights have the shape of the normalized axes.
    fn normalized(&mut self, of: &Reading) -> Option<Content> {
        let x = of.input(0)?;
        let dims = of.dims(x)?;
        let axis = of.axis(-1, dims.len())?;
        let mut operands = vec![self.of(x)];
        for index in 1..usize::from(of.call.inputs) {
            let weight = of.input(index)?;
            if of.dims(weight)? != &dims[axis..] || dims[axis..].iter().any(Option::is_none) {
                return None;
            }
            operands.push(self.of(weight));
        }
        let blocks = apart(dims, axis..dims.len());
        let sizes = sizes(&blocks)?;
        let op = of.named("LayerNormalization", &["axis"]) + &roles(&blocks);
        Some(self.defined(Key { op, operands, sizes }))
    }

    /// Returns the content of a normalization with one set of weights for each channel.
    fn by_channel(&mut self, of: &Reading, op: &str) -> Option<Content> {
        let inputs = of.inputs()?;
        let dims = of.dims(*inputs.first()?)?;
        if dims.len() < 2 {
            return None;
        }
        let blocks = apart(dims, 1..2);
        let mut numbers = sizes(&blocks)?;
        numbers.push(Dim::known(inputs.len() as i64));
        let op = of.named(op, &["spatial"]) + &roles(&blocks);
        let operands = inputs.into_iter().map(|input| self.of(input)).collect();
        Some(self.defined(Key { op, operands, sizes: numbers }))
    }
}

/// Returns the blocks before, inside and after a range of axes.
fn apart(dims: &[Size], inside: std::ops::Range<usize>) -> Vec<Block<u8>> {
    let role = |axis: usize| match axis {
        _ if axis < inside.start => 0,
        _ if axis < inside.end => 1,
        _ => 2,
    };
    blocks(dims.iter().enumerate().map(|(axis, size)| (size.clone(), role(axis))))
}

fn roles(blocks: &[Block<u8>]) -> String {
    blocks.iter().map(|block| format!(" {}", block.role)).collect()
}

/// Returns the size of each broadcast axis, and a bit for each operand that is repeated along it.
///
/// `own` are the dimensions of the result, which can be larger than those of all operands.
/// `None` if the sizes do not tell which operands are repeated.
fn broadcast_axes(operands: Vec<&[Size]>, own: Option<&[Size]>) -> Option<Vec<(Size, u64)>> {
    let rank = operands.iter().map(|dims| dims.len()).chain(own.map(<[Size]>::len)).max()?;
    let one = Dim::known(1);
    let mut axes = Vec::with_capacity(rank);
    for axis in (0..rank).rev() {
        let mut common: Option<&Size> = None;
        let mut repeated = 0;
        for (at, dims) in operands.iter().enumerate().take(64) {
            let size = dims.len().checked_sub(axis + 1).map(|axis| &dims[axis]);
            match size.filter(|size| size.as_ref() != Some(&one)) {
                None => repeated |= 1 << at,
                Some(size) if common.is_none() => common = Some(size),
                Some(size) if size.is_some() && common == Some(size) => {}
                Some(_) => return None,
            }
        }
        let of_result = own.and_then(|own| own.get(own.len().checked_sub(axis + 1)?));
        if let (Some(Some(common)), Some(Some(of_result))) = (common, of_result)
            && common != of_result
        {
            return None;
        }
        axes.push((common.or(of_result).map_or_else(|| Some(one.clone()), Clone::clone), repeated));
    }
    (operands.len() <= 64).then_some(axes)
}
