//! Operators along one axis, and `einsum`.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::super::super::syntax::{children, field};
use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{DType, Dim, Tensor, shown};
use super::super::value::Value;
use crate::diag::counted;

impl<'t> Machine<'t> {
    /// Evaluates operators that change at most one axis. All arguments must be positional.
    pub fn along_axis(&mut self, name: &str, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Eval<'t> {
        let int = |at: usize| args.get(at, "").and_then(Value::int);
        let node = args.node;
        let place = match name {
            "narrow" | "select" | "flip" | "diff" => 1,
            "unfold" if x.rank() == Some(4) && args.positional.len() != 4 => return self.unfold(x, args),
            "unfold" => match written_arguments(args) {
                Some(3) => 1,
                // `F.unfold(x, kernel_size, dilation, padding)`.
                Some(4) => return self.unfold_by_position(x, args),
                _ => return Ok(Value::Unknown),
            },
            _ => 2,
        };
        let given = args.get(place, "");
        let axis = match (name, given) {
            ("repeat_interleave" | "diff", None) => return Ok(Value::Unknown),
            (_, given) => given.and_then(Value::int),
        };
        if name == "roll" && x.numel() == Some(0) {
            // PyTorch returns an empty tensor at once.
            return Ok(Value::Tensor(Rc::new(self.derived(x))));
        }
        let at = self.axis(name, axis, x.rank(), 0, node)?;
        if matches!(name, "roll" | "flip") {
            return Ok(Value::Tensor(Rc::new(self.derived(x))));
        }
        let (Some(mut shape), Some(at)) = (x.shape.clone(), at) else {
            return Ok(self.made(None, x.dtype, &[x]));
        };
        let Some(size) = shape.get(at).copied() else { return Ok(Value::Unknown) };
        match name {
            "narrow" => {
                let (start, length) = (int(2), int(3));
                if let (Some(size), Some(start), Some(length)) = (size, start, length)
                    && start >= 0
                    && start + length > size
                {
                    let message = format!(
                        "`narrow` to {} from {start} on, but axis {at} has {size} (shape {})",
                        counted(length, "element"),
                        shown(&shape)
                    );
                    return Err(self.fault(node, Fault::shape(message, "correct the start or the length")));
                }
                shape[at] = length;
            }
            "select" => {
                shape.remove(at);
            }
            "repeat_interleave" => shape[at] = size.zip(int(1)).map(|(size, times)| size * times),
            "unfold" => {
                if let Some((whole, width)) = size.zip(int(2)).filter(|(whole, width)| width > whole) {
                    let message = format!(
                        "`unfold` to windows of {}, but axis {at} has {whole} (shape {})",
                        counted(width, "element"),
                        shown(&shape)
                    );
                    let help = "use a larger example, or smaller windows";
                    return Err(self.fault(node, Fault::shape(message, help)));
                }
                let windows = match (size, int(2), int(3)) {
                    (Some(size), Some(width), Some(step)) if step > 0 && width <= size => {
                        Some((size - width) / step + 1)
                    }
                    _ => None,
                };
                shape[at] = windows;
                shape.push(int(2));
            }
            _ => return Ok(Value::Unknown),
        }
        if matches!(name, "narrow" | "select" | "unfold") {
            return Ok(self.window(x, shape));
        }
        Ok(self.made(Some(shape), x.dtype, &[x]))
    }

    /// Returns a view of some elements of a tensor: writes to it change the tensor.
    pub fn window(&mut self, x: &Tensor<'t>, shape: Vec<Dim>) -> Value<'t> {
        match self.made(Some(shape), x.dtype, &[x]) {
            Value::Tensor(made) => {
                Value::Tensor(Rc::new(Tensor { memory: x.memory, layout: None, ..(*made).clone() }))
            }
            other => other,
        }
    }

    /// Evaluates `F.unfold` with four positional arguments, of which the last one is the padding.
    fn unfold_by_position(&mut self, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Eval<'t> {
        if x.rank() != Some(4) {
            return Ok(Value::Unknown);
        }
        let mut named = args.clone();
        if let Some((padding, node)) = named.positional.pop() {
            named.keywords.push((Rc::from("padding"), padding, node));
        }
        self.unfold(x, &named)
    }

    /// Evaluates `einsum` with an equation whose letters name axes.
    pub fn einsum(&mut self, args: &Args<'t>) -> Eval<'t> {
        let Some(equation) = args.get(0, "equation").and_then(Value::text).map(str::to_owned) else {
            return Ok(Value::Unknown);
        };
        let equation = equation.replace(' ', "");
        let operands = args.values().into_iter().skip(1);
        let operands: Vec<Value<'t>> = match operands.collect::<Vec<_>>().as_slice() {
            [list @ (Value::Object(_) | Value::Tuple(_))] => self.items(list).unwrap_or_default(),
            many => many.to_vec(),
        };
        let Some((inputs, output)) = equation.split_once("->") else { return Ok(Value::Unknown) };
        let terms: Vec<&str> = inputs.split(',').collect();
        if equation.contains('.') || terms.len() != operands.len() {
            return Ok(Value::Unknown);
        }
        let mut sizes: FxHashMap<char, Dim> = FxHashMap::default();
        let mut dtype: Option<Option<DType>> = None;
        let mut tensors = vec![];
        for (term, operand) in terms.iter().zip(operands) {
            let Value::Tensor(tensor) = operand else { return Ok(Value::Unknown) };
            let Some(shape) = tensor.shape.clone() else { return Ok(Value::Unknown) };
            if shape.len() != term.chars().count() {
                let message = format!("`einsum`: `{term}` does not fit the shape {}", shown(&shape));
                return Err(self.fault(args.node, Fault::shape(message, "write one letter for each axis")));
            }
            for (letter, size) in term.chars().zip(shape) {
                let known = sizes.entry(letter).or_insert(size);
                match (*known, size) {
                    (Some(a), Some(b)) if a != b && a != 1 && b != 1 => {
                        let message = format!("`einsum`: the axis `{letter}` is {a} and {b}");
                        return Err(
                            self.fault(args.node, Fault::shape(message, "correct the equation or the sizes"))
                        );
                    }
                    (Some(1) | None, size) => *known = size.or(*known),
                    _ => {}
                }
            }
            dtype = Some(dtype.map_or(tensor.dtype, |dtype| dtype.filter(|_| dtype == tensor.dtype)));
            tensors.push(tensor);
        }
        let shape = output.chars().map(|letter| sizes.get(&letter).copied().flatten()).collect();
        let all: Vec<&Tensor<'t>> = tensors.iter().map(|tensor| &**tensor).collect();
        self.same_device(&all, args.node)?;
        self.same_dtype("einsum", &all, args.node)?;
        Ok(self.made(Some(shape), dtype.flatten(), &all))
    }
}

/// Returns the number of arguments that a call lists, or `None` if it unpacks some.
fn written_arguments(args: &Args) -> Option<usize> {
    let listed = children(field(args.node, "arguments")?);
    let is_plain =
        |node: &Node| !matches!(node.kind(), "list_splat" | "dictionary_splat" | "keyword_argument");
    listed.iter().all(is_plain).then(|| listed.iter().filter(|node| node.kind() != "comment").count())
}
