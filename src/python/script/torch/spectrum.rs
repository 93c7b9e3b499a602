//! Fourier transforms: `torch.fft`.

use super::super::calls::Args;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{DType, Dim, Tensor};
use super::super::value::Value;
use super::function_calls::{complex, real};

/// Transformed axes, each with its size if it is given.
type Sizes = Vec<(usize, Option<Dim>)>;

impl<'t> Machine<'t> {
    /// Evaluates a function of `torch.fft`; `name` is the name without `fft.`.
    pub fn spectrum(&mut self, name: &str, args: &Args<'t>) -> Eval<'t> {
        if matches!(name, "fftfreq" | "rfftfreq") {
            let count = args.get(0, "n").and_then(Value::int);
            let count = if name == "fftfreq" { count } else { count.map(|count| count / 2 + 1) };
            return Ok(match self.default_dtype {
                default if args.keyword("out").is_none() => {
                    Value::Tensor(std::rc::Rc::new(self.with_options(Some(vec![count]), default, args)))
                }
                _ => Value::Unknown,
            });
        }
        let Some(Value::Tensor(x)) = args.get(0, "input").cloned() else { return Ok(Value::Unknown) };
        if matches!(name, "fftshift" | "ifftshift") {
            return Ok(self.made(x.shape.clone(), x.dtype, &[&x]));
        }
        if args.keyword("out").is_some() {
            return Ok(Value::Unknown);
        }
        let complex = self.floating(x.dtype).and_then(complex);
        let axes = match name {
            "fft" | "ifft" | "rfft" | "irfft" | "hfft" | "ihfft" => {
                let axis = args.get(2, "dim").map_or(Some(-1), Value::int);
                let at = self.axis(&format!("fft.{name}"), axis, x.rank(), 0, args.node)?;
                let size = args.get(1, "n").filter(|size| **size != Value::None).map(Value::int);
                at.map(|at| vec![(at, size)])
            }
            _ if name.ends_with(['2', 'n']) => self.transformed_axes(name, &x, args)?,
            _ => return Ok(Value::Unknown),
        };
        let kind = name.trim_end_matches(['2', 'n']);
        let is_real = matches!(kind, "irfft" | "hfft");
        let mut shape = x.shape.clone().filter(|_| axes.is_some());
        if let (Some(shape), Some(axes)) = (&mut shape, &axes) {
            for (place, (at, given)) in axes.iter().enumerate() {
                let Some(size) = shape.get_mut(*at) else { return Ok(Value::Unknown) };
                let is_last = place + 1 == axes.len();
                *size = match (kind, given) {
                    ("rfft" | "ihfft", given) if is_last => given.unwrap_or(*size).map(|size| size / 2 + 1),
                    ("irfft" | "hfft", None) if is_last => size.map(|size| 2 * (size - 1)),
                    (_, given) => given.unwrap_or(*size),
                };
            }
        }
        let dtype = if is_real { complex.and_then(real) } else { complex };
        Ok(self.made(shape, dtype.filter(|dtype: &DType| *dtype != DType::Float16), &[&x]))
    }

    /// Returns the axes that a transform of several axes changes, and the sizes that are given for them.
    fn transformed_axes(
        &self,
        name: &str,
        x: &Tensor<'t>,
        args: &Args<'t>,
    ) -> Result<Option<Sizes>, super::super::machine::Stop> {
        let list = |value: &Value<'t>| match value {
            Value::Int(number) => Some(vec![Some(*number)]),
            other => self.items(other).map(|items| items.iter().map(Value::int).collect::<Vec<Dim>>()),
        };
        let given = |at: usize, name: &str| args.get(at, name).filter(|value| **value != Value::None);
        let sizes = match given(1, "s").map(list) {
            Some(None) => return Ok(None),
            sizes => sizes.flatten(),
        };
        let Some(rank) = x.rank().and_then(|rank| i64::try_from(rank).ok()) else { return Ok(None) };
        let axes = match (given(2, "dim"), &sizes) {
            (Some(axes), _) => list(axes),
            (None, _) if name.ends_with('2') => Some(vec![Some(-2), Some(-1)]),
            (None, Some(sizes)) => {
                let count = i64::try_from(sizes.len()).unwrap_or(0);
                Some((rank - count..rank).map(|axis| Some(axis.max(0))).collect())
            }
            (None, None) => Some((0..rank).map(Some).collect()),
        };
        let Some(axes) = axes else { return Ok(None) };
        let mut places = vec![];
        for (place, axis) in axes.iter().enumerate() {
            let size =
                sizes.as_ref().and_then(|sizes| sizes.get(place).copied()).filter(|one| *one != Some(-1));
            match self.axis(&format!("fft.{name}"), *axis, x.rank(), 0, args.node)? {
                Some(at) => places.push((at, size)),
                None => return Ok(None),
            }
        }
        Ok(Some(places))
    }
}
