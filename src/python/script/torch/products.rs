//! Products of vectors and matrices, distances, and scaled dot-product attention.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::machine::{Eval, Machine, Stop};
use super::super::tensor::{Dim, Tensor, shown};
use super::super::value::Value;

impl<'t> Machine<'t> {
    /// Evaluates a product of tensors; `None` for other functions.
    pub fn product(&mut self, name: &str, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Option<Eval<'t>> {
        let operand = |at: usize, names: &[&str]| {
            let named = names.iter().find_map(|name| args.keyword(name));
            match args.positional.get(at).map(|(value, _)| value).or(named) {
                Some(Value::Tensor(tensor)) => Some(tensor.clone()),
                _ => None,
            }
        };
        let unknown = Some(Ok(Value::Unknown));
        let Some(y) =
            operand(1, &["vec2", "other", "vec", "tensor", "tensor1", "mat1", "batch1", "x2", "key"])
        else {
            let is_product = matches!(
                name,
                "outer"
                    | "ger"
                    | "mv"
                    | "dot"
                    | "addmm"
                    | "baddbmm"
                    | "cdist"
                    | "scaled_dot_product_attention"
            );
            return if is_product { unknown } else { None };
        };
        Some(match name {
            "outer" | "ger" => self.outer(name, x, &y, args),
            "mv" => {
                self.with_ranks(name, &[(x, 2), (&y, 1)], args).and_then(|()| self.matmul(x, &y, args.node))
            }
            "dot" => {
                self.with_ranks(name, &[(x, 1), (&y, 1)], args).and_then(|()| self.matmul(x, &y, args.node))
            }
            "addmm" | "baddbmm" => {
                let Some(z) = operand(2, &["mat2", "batch2"]) else { return unknown };
                let (inner, rank) = if name == "addmm" { ("mm", 2) } else { ("bmm", 3) };
                let product = self.ranked_product(inner, rank, &y, &z, args.node);
                product.and_then(|product| self.added(name, x, &product, args))
            }
            "addcmul" | "addcdiv" => {
                let Some(z) = operand(2, &["tensor2"]) else { return unknown };
                let operands = [x.clone(), y, z].map(Value::Tensor);
                self.elementwise(&operands, false, false, args.node)
            }
            "cdist" => self.distances(x, &y, args),
            "scaled_dot_product_attention" => {
                let Some(z) = operand(2, &["value"]) else { return unknown };
                self.scaled_attention(x, &y, &z, args)
            }
            _ => return None,
        })
    }

    /// Reports an operand without the number of axes that a function expects.
    fn with_ranks(&self, name: &str, operands: &[(&Tensor<'t>, usize)], args: &Args<'t>) -> Result<(), Stop> {
        for (tensor, rank) in operands {
            if let Some(shape) = tensor.shape.as_ref().filter(|shape| shape.len() != *rank) {
                let axes = if *rank == 1 { "1 axis".to_owned() } else { format!("{rank} axes") };
                let message =
                    format!("`{name}` expects an operand of {axes}, gets the shape {}", shown(shape));
                return Err(
                    self.fault(args.node, Fault::shape(message, "use `torch.matmul` or `torch.einsum`"))
                );
            }
        }
        Ok(())
    }

    /// Evaluates a function of matrices in `torch.linalg`; `None` for other functions.
    pub fn linear_algebra(&mut self, name: &str, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Option<Eval<'t>> {
        let name = name.strip_prefix("linalg.").unwrap_or(name);
        let is_square = matches!(name, "inv" | "inverse" | "det" | "slogdet" | "eigh" | "cholesky");
        if let Some(shape) = x.shape.as_ref().filter(|_| is_square) {
            let [.., a, b] = shape.as_slice() else { return Some(Ok(Value::Unknown)) };
            if a.zip(*b).is_some_and(|(a, b)| a != b) {
                let message = format!("`{name}` expects square matrices, gets the shape {}", shown(shape));
                let help = "use `torch.linalg.pinv` or `torch.linalg.lstsq` for other matrices";
                return Some(Err(self.fault(args.node, Fault::shape(message, help))));
            }
        }
        Some(match name {
            "inv" | "inverse" | "cholesky" => Ok(self.made(x.shape.clone(), x.dtype, &[x])),
            "det" => {
                let shape = x.shape.as_ref().map(|shape| shape[..shape.len().saturating_sub(2)].to_vec());
                Ok(self.made(shape, x.dtype, &[x]))
            }
            "norm" | "vector_norm" => {
                let is_plain = args.keyword("dtype").is_none();
                let (axes, keep) = (args.get(2, "dim"), args.get(3, "keepdim"));
                if !is_plain {
                    return Some(Ok(Value::Unknown));
                }
                self.reduce("norm", x, axes, keep, args.node)
            }
            _ => return None,
        })
    }

    fn outer(&mut self, name: &str, x: &Tensor<'t>, y: &Tensor<'t>, args: &Args<'t>) -> Eval<'t> {
        self.with_ranks(name, &[(x, 1), (y, 1)], args)?;
        self.same_device(&[x, y], args.node)?;
        let shape = x.shape.as_ref().zip(y.shape.as_ref()).map(|(x, y)| vec![x[0], y[0]]);
        let dtype = x.dtype.zip(y.dtype).map(|(a, b)| a.promote(b));
        Ok(self.made(shape, dtype, &[x, y]))
    }

    /// Evaluates the sum of `addmm` and `baddbmm`, whose first operand is broadcast to the product.
    fn added(&mut self, name: &str, x: &Tensor<'t>, product: &Value<'t>, args: &Args<'t>) -> Eval<'t> {
        let Value::Tensor(product) = product else { return Ok(Value::Unknown) };
        self.same_dtype(name, &[x, product], args.node)?;
        if let (Some(a), Some(b)) = (&x.shape, &product.shape) {
            self.expandable(name, a, b, args)?;
        }
        Ok(self.made(product.shape.clone(), product.dtype, &[x, product]))
    }

    /// Reports a shape that cannot be broadcast to another shape without changing it.
    fn expandable(&self, name: &str, a: &[Dim], b: &[Dim], args: &Args<'t>) -> Result<(), Stop> {
        let pairs = || a.iter().rev().zip(b.iter().rev());
        let differs = |(a, b): (&Dim, &Dim)| a.zip(*b).is_some_and(|(a, b)| a != b && a != 1);
        if a.len() <= b.len() && !pairs().any(differs) {
            return Ok(());
        }
        let message = format!("`{name}` cannot expand the shape {} to {}", shown(a), shown(b));
        Err(self.fault(args.node, Fault::shape(message, "give each axis the size of the result, or 1")))
    }

    /// Evaluates `cdist`.
    fn distances(&mut self, x: &Tensor<'t>, y: &Tensor<'t>, args: &Args<'t>) -> Eval<'t> {
        let (Some(a), Some(b)) = (&x.shape, &y.shape) else { return Ok(self.made(None, x.dtype, &[x, y])) };
        if a.len() < 2 || b.len() < 2 {
            let message = format!("`cdist` expects 2 axes or more, gets {} and {}", shown(a), shown(b));
            return Err(self.fault(args.node, Fault::shape(message, "add an axis: `x.unsqueeze(0)`")));
        }
        let (features, other) = (a[a.len() - 1], b[b.len() - 1]);
        if features.zip(other).is_some_and(|(a, b)| a != b) {
            let message = format!("`cdist` expects equal last axes, gets {} and {}", shown(a), shown(b));
            return Err(self.fault(args.node, Fault::shape(message, "give both sets points of one size")));
        }
        let mut shape = self.broadcast(&a[..a.len() - 2], &b[..b.len() - 2], args.node)?;
        shape.extend([a[a.len() - 2], b[b.len() - 2]]);
        Ok(self.made(Some(shape), x.dtype.filter(|_| x.dtype == y.dtype), &[x, y]))
    }

    /// Evaluates `scaled_dot_product_attention`.
    fn scaled_attention(
        &mut self,
        q: &Tensor<'t>,
        k: &Tensor<'t>,
        v: &Tensor<'t>,
        args: &Args<'t>,
    ) -> Eval<'t> {
        self.same_device(&[q, k, v], args.node)?;
        self.same_dtype("scaled_dot_product_attention", &[q, k, v], args.node)?;
        let is_grouped = args.keyword("enable_gqa").is_some_and(|flag| *flag != Value::Bool(false));
        let (Some(a), Some(b), Some(c)) = (&q.shape, &k.shape, &v.shape) else {
            return Ok(self.made(None, q.dtype, &[q, k, v]));
        };
        if is_grouped || [a, b, c].iter().any(|shape| shape.len() < 2) {
            return Ok(self.made(None, q.dtype, &[q, k, v]));
        }
        let mut turned = b.clone();
        let rank = turned.len();
        turned.swap(rank - 2, rank - 1);
        let keys = self.tensor(Some(turned), k.dtype, k.device.clone());
        let Value::Tensor(scores) = self.matmul(q, &keys, args.node)? else { return Ok(Value::Unknown) };
        let mask = args.get(3, "attn_mask").filter(|mask| **mask != Value::None).cloned();
        if let Some(Value::Tensor(mask)) = mask {
            if let Some(dtype) = mask.dtype.filter(|dtype| dtype.is_integer()) {
                let message = format!(
                    "`scaled_dot_product_attention` expects a boolean or floating-point mask, gets {}",
                    dtype.name()
                );
                return Err(self.fault(args.node, Fault::dtype(message, "use `mask.bool()`")));
            }
            if let (Some(mask), Some(scores)) = (&mask.shape, &scores.shape) {
                // Three axes become four with a first axis of 1, which a mask may have, too.
                let is_batched = scores.len() == 3 && mask.len() == 4 && matches!(mask[0], Some(1) | None);
                let fitting = if is_batched { &mask[1..] } else { &mask[..] };
                // Only the kernels of the CPU reject a mask with more axes, not the exported program.
                let is_checked = !self.is_program && q.device.as_deref() == Some("cpu");
                if fitting.len() <= scores.len() || is_checked {
                    self.expandable("scaled_dot_product_attention", fitting, scores, args)?;
                }
                if mask.len() > scores.len() {
                    return Ok(self.made(None, q.dtype, &[q, k, v]));
                }
            }
        }
        // Some kernels do not check the lengths of the values.
        let shape = scores.shape.clone().filter(|scores| scores.len() == c.len()).map(|mut shape| {
            if let (Some(last), Some(features)) = (shape.last_mut(), c.last()) {
                *last = *features;
            }
            shape
        });
        Ok(self.made(shape, q.dtype, &[q, k, v]))
    }
}
