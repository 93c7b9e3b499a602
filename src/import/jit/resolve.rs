//! Overload resolution of calls with positional and named arguments, where defaults are omitted.

use std::sync::Arc;

use crate::import::overload::assigned;
use crate::schema::aten::{self, Kind, Signature};
use crate::torch::{Argument, Input, Trace};

/// Arguments that no lowering depends on.
const IGNORED: [&str; 6] = ["device", "layout", "pin_memory", "generator", "non_blocking", "requires_grad"];

/// Returns the overload that accepts a call, and its arguments by parameter name.
pub fn resolved(
    trace: &Trace,
    name: &str,
    given: &[Argument],
    named: &[(Arc<str>, Argument)],
) -> Option<(&'static Signature, Vec<Input>)> {
    let named = named.iter().filter(|(name, _)| !IGNORED.contains(&&**name));
    // Signatures do not have memory formats, which only affect whether a result shares its elements.
    let (formats, named): (Vec<_>, Vec<_>) = named.partition(|(name, _)| &**name == "memory_format");
    let accepts =
        |signature: &&Signature, numbers: bool| assigned(trace, signature, given, &named, numbers).is_some();
    // The code omits arguments only if they are defaults, so the overload with the fewest parameters is meant.
    // An integer is rather an axis than the number of a dtype, which most operators take by name only.
    let dtypes = |signature: &Signature| {
        let pairs = signature.params.iter().zip(given);
        pairs.filter(|(param, given)| param.kind == Kind::Elem && **given != Argument::None).count()
    };
    let best = |numbers: bool| {
        let accepted = aten::overloads(name).filter(|it| accepts(it, numbers));
        accepted.min_by_key(|it| (dtypes(it), it.params.len()))
    };
    let found = best(false).or_else(|| best(true))?;
    let mut inputs = assigned(trace, found, given, &named, true)?;
    if let Some((_, format)) = formats.first()
        && !matches!(format, Argument::None | Argument::Int(0))
    {
        inputs.push(Input { name: Some("memory_format".into()), argument: format.clone() });
    }
    Some((found, inputs))
}
