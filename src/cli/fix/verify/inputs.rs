//! Random inputs at chosen sizes, reproducible in every run.

use half::{bf16, f16};
use ort::session::Session;
use ort::value::{DynValue, Outlet, Tensor, TensorElementType, ValueType};

use super::compare::type_name;

/// Maximum number of elements of an input; a model with larger inputs takes too long to verify.
const MAX_ELEMENTS: usize = 1 << 24;

/// The parameters of random inputs.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The size of the first symbolic dimension.
    pub size: usize,
    /// Whether further symbolic dimensions get distinct sizes.
    pub distinct: bool,
    /// Exclusive upper bound of integers; some models use them as indices.
    pub integers_below: u64,
    pub seed: u64,
}

/// Creates a value for each input of `session`, by name.
///
/// A dimension that is symbolic in `session`, and static in the session `fixed` of the model to compare with, gets
/// the static size.
pub fn inputs(session: &Session, fixed: &Session, choice: Choice) -> Result<Vec<(String, DynValue)>, String> {
    let mut symbols = Vec::new();
    let mut random = Random(choice.seed);
    let make = |input: &Outlet| {
        let name = input.name();
        let &ValueType::Tensor { ty, ref shape, ref dimension_symbols } = input.dtype() else {
            return Err(format!("input `{name}` is not a tensor"));
        };
        let mut dims = Vec::with_capacity(shape.len());
        let fixed = fixed_dims(fixed, name);
        for (axis, &dim) in shape.iter().enumerate() {
            let dim = if dim < 0 { fixed.get(axis).copied().unwrap_or(dim) } else { dim };
            dims.push(usize::try_from(dim).unwrap_or_else(|_| {
                let symbol = match dimension_symbols.get(axis).map(String::as_str) {
                    None | Some("") => format!("{name}:{axis}"),
                    Some(symbol) => symbol.to_owned(),
                };
                choice.size + if choice.distinct { position(&mut symbols, symbol) } else { 0 }
            }));
        }
        let value = tensor(ty, dims, &mut random, choice.integers_below);
        value.map(|value| (name.to_owned(), value)).map_err(|why| format!("input `{name}` {why}"))
    };
    session.inputs().iter().map(make).collect()
}

/// Inputs by name.
type Named = Vec<(String, DynValue)>;

/// Prepares inputs for two models, the second of which may have inputs narrower than float32.
///
/// For both models, values are rounded to the narrower type. The second list has the converted inputs of the
/// second model, and `None` for inputs that need no conversion.
pub fn for_both(inputs: Named, other: &Session) -> Result<(Named, Vec<Option<DynValue>>), String> {
    let (mut first, mut second) = (Vec::with_capacity(inputs.len()), Vec::with_capacity(inputs.len()));
    for (name, value) in inputs {
        let wanted = other.inputs().iter().find(|input| input.name() == name).map(Outlet::dtype);
        let ty = match wanted {
            Some(ValueType::Tensor { ty, .. }) => Some(*ty),
            _ => None,
        };
        let (value, narrow) = match rounded(&value, ty).map_err(|error| error.to_string())? {
            Some((rounded, narrow)) => (rounded, Some(narrow)),
            None => (value, None),
        };
        first.push((name, value));
        second.push(narrow);
    }
    Ok((first, second))
}

/// Returns a float32 tensor rounded to a 16-bit type `ty`, and converted to `ty`.
///
/// Returns `None` unless `value` is float32 and `ty` is a 16-bit type.
fn rounded(
    value: &DynValue,
    ty: Option<TensorElementType>,
) -> Result<Option<(DynValue, DynValue)>, ort::Error> {
    let Ok((shape, numbers)) = value.try_extract_tensor::<f32>() else { return Ok(None) };
    let dims: Vec<i64> = shape.to_vec();
    macro_rules! both {
        ($narrow:ty) => {{
            let narrow: Vec<$narrow> = numbers.iter().map(|&x| <$narrow>::from_f32(x)).collect();
            let wide: Vec<f32> = narrow.iter().map(|x| x.to_f32()).collect();
            let wide = Tensor::from_array((dims.clone(), wide))?.into_dyn();
            Ok(Some((wide, Tensor::from_array((dims, narrow))?.into_dyn())))
        }};
    }
    match ty {
        Some(TensorElementType::Float16) => both!(f16),
        Some(TensorElementType::Bfloat16) => both!(bf16),
        _ => Ok(None),
    }
}

/// Returns the index of `symbol`, adding it if it is new.
fn position(symbols: &mut Vec<String>, symbol: String) -> usize {
    symbols.iter().position(|known| *known == symbol).unwrap_or_else(|| {
        symbols.push(symbol);
        symbols.len() - 1
    })
}

/// Returns the declared shape of an input; empty if it has none.
fn fixed_dims(session: &Session, name: &str) -> Vec<i64> {
    let input = session.inputs().iter().find(|input| input.name() == name);
    match input.map(Outlet::dtype) {
        Some(ValueType::Tensor { shape, .. }) => shape.to_vec(),
        _ => Vec::new(),
    }
}

/// Returns true if an input has a dimension that is symbolic in both models.
pub fn has_free_dims(session: &Session, fixed: &Session) -> bool {
    session.inputs().iter().any(|input| match input.dtype() {
        ValueType::Tensor { shape, .. } => {
            let fixed = fixed_dims(fixed, input.name());
            let is_free = |(axis, &dim): (usize, &i64)| dim < 0 && fixed.get(axis).is_none_or(|&dim| dim < 0);
            shape.iter().enumerate().any(is_free)
        }
        _ => false,
    })
}

fn tensor(
    ty: TensorElementType,
    dims: Vec<usize>,
    random: &mut Random,
    below: u64,
) -> Result<DynValue, String> {
    let count = dims.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim));
    let count = count.filter(|&count| count <= MAX_ELEMENTS).ok_or("would be too large")?;
    macro_rules! numbers {
        ($next:expr) => {{
            let elements: Vec<_> = (0..count).map(|_| $next).collect();
            Tensor::from_array((dims, elements)).map(|tensor| tensor.into_dyn())
        }};
    }
    let value = match ty {
        TensorElementType::Float32 => numbers!(random.float() as f32),
        TensorElementType::Float64 => numbers!(random.float()),
        TensorElementType::Float16 => numbers!(f16::from_f64(random.float())),
        TensorElementType::Bfloat16 => numbers!(bf16::from_f64(random.float())),
        TensorElementType::Int8 => numbers!(random.below(below) as i8),
        TensorElementType::Int16 => numbers!(random.below(below) as i16),
        TensorElementType::Int32 => numbers!(random.below(below) as i32),
        TensorElementType::Int64 => numbers!(random.below(below) as i64),
        TensorElementType::Uint8 => numbers!(random.below(below) as u8),
        TensorElementType::Uint16 => numbers!(random.below(below) as u16),
        TensorElementType::Uint32 => numbers!(random.below(below) as u32),
        TensorElementType::Uint64 => numbers!(random.below(below)),
        TensorElementType::Bool => numbers!(random.below(2) == 1),
        TensorElementType::String => {
            let elements: Vec<String> = (0..count).map(|_| random.below(below).to_string()).collect();
            Tensor::from_string_array((dims, &elements[..])).map(|tensor| tensor.into_dyn())
        }
        other => return Err(format!("has elements of type {}, which cannot be generated", type_name(other))),
    };
    value.map_err(|error| error.to_string())
}

/// SplitMix64: small and stable across versions.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// Returns a number between -1 and 1.
    fn float(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
