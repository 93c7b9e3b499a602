//! `rearrange`, `reduce` and `repeat` of `einops`, and their layers.

use super::super::calls::Args;
use super::super::machine::Machine;
use super::super::tensor::{Dim, Tensor};
use super::super::value::Value;

/// Prefixes of the layers and of the functions.
const LAYERS: &str = "einops.layers.torch.";

impl<'t> Machine<'t> {
    /// Calls a function of `einops`, or creates one of its layers; `None` for other paths.
    pub fn einops_call(&mut self, path: &str, args: &Args<'t>) -> Option<Value<'t>> {
        if let Some(layer @ ("Rearrange" | "Reduce")) = path.strip_prefix(LAYERS) {
            if args.open {
                return None;
            }
            let pattern = args.get(0, "pattern").cloned().unwrap_or_default();
            let is_size =
                |(name, ..): &&(std::rc::Rc<str>, Value<'t>, _)| !matches!(&**name, "pattern" | "reduction");
            let sizes: Vec<(Value<'t>, Value<'t>)> = args
                .keywords
                .iter()
                .filter(is_size)
                .map(|(name, value, _)| (Value::Str(name.clone()), value.clone()))
                .collect();
            let sizes = self.dict(sizes, false);
            return Some(self.instance(
                &format!("{LAYERS}{layer}"),
                vec![("pattern", pattern), ("sizes", sizes)],
                false,
            ));
        }
        let name =
            path.strip_prefix("einops.").filter(|name| matches!(*name, "rearrange" | "reduce" | "repeat"))?;
        let first = args.get(0, "tensor").and_then(Value::tensor).cloned();
        let (Some(x), false) = (first, args.open) else { return Some(Value::Unknown) };
        let pattern = args.get(1, "pattern").and_then(Value::text).unwrap_or("").to_owned();
        let sizes: Vec<(&str, Dim)> =
            args.keywords.iter().map(|(name, value, _)| (&**name, value.int())).collect();
        Some(self.rearranged(name, &x, &pattern, &sizes))
    }

    /// Runs a layer of `einops`; `None` for other layers.
    pub fn einops_layer(&mut self, layer: &Value<'t>, args: &Args<'t>) -> Option<Value<'t>> {
        let class = self.library_class(layer)?;
        let name = class.strip_prefix(LAYERS)?.to_lowercase();
        let x = args.get(0, "input").and_then(Value::tensor).cloned();
        let pattern = self.attribute_of(layer, "pattern")?;
        let sizes = self.attribute_of(layer, "sizes").and_then(|sizes| self.entries(&sizes))?;
        let sizes: Vec<(&str, Dim)> =
            sizes.iter().filter_map(|(name, value)| Some((name.text()?, value.int()))).collect();
        let (Some(x), Some(pattern)) = (x, pattern.text()) else { return Some(Value::Unknown) };
        Some(self.rearranged(&name, &x, pattern, &sizes))
    }

    fn rearranged(&mut self, name: &str, x: &Tensor<'t>, pattern: &str, sizes: &[(&str, Dim)]) -> Value<'t> {
        let shape = x.shape.as_ref().and_then(|shape| rearranged(shape, pattern, sizes));
        let dtype = x.dtype.filter(|dtype| name != "reduce" || dtype.is_float());
        self.made(shape, dtype, &[x])
    }
}

/// Returns the groups of names in one side of a pattern.
fn groups(side: &str) -> Option<Vec<Vec<&str>>> {
    let mut found: Vec<Vec<&str>> = vec![];
    let mut inside = false;
    let spaced = side.replace('(', " ( ").replace(')', " ) ");
    let mut rest = side;
    for word in spaced.split_whitespace() {
        match word {
            "(" if !inside => {
                inside = true;
                found.push(vec![]);
            }
            ")" if inside => inside = false,
            "(" | ")" => return None,
            _ => {
                let at = rest.find(word)?;
                let own = &rest[at..at + word.len()];
                rest = &rest[at + word.len()..];
                match found.last_mut().filter(|_| inside) {
                    Some(last) => last.push(own),
                    None => found.push(vec![own]),
                }
            }
        }
    }
    (!inside).then_some(found)
}

/// Returns the shape after a pattern such as `b c h w -> b (h w) c`.
fn rearranged(shape: &[Dim], pattern: &str, sizes: &[(&str, Dim)]) -> Option<Vec<Dim>> {
    let (left, right) = pattern.split_once("->")?;
    let (left, right) = (groups(left)?, groups(right)?);
    let is_plain =
        |groups: &[Vec<&str>]| groups.iter().flatten().all(|name| !name.contains('.') && *name != "…");
    if !is_plain(&left) || !is_plain(&right) || left.len() != shape.len() {
        return None;
    }
    let mut known: Vec<(&str, Dim)> = sizes.to_vec();
    for (group, size) in left.iter().zip(shape) {
        let of = |name: &str, known: &[(&str, Dim)]| match name {
            "1" => Some(Some(1)),
            name => known.iter().find(|(other, _)| *other == name).map(|(_, size)| *size),
        };
        let missing: Vec<&str> = group.iter().copied().filter(|name| of(name, &known).is_none()).collect();
        match missing[..] {
            [] => {}
            [only] => {
                let others = group.iter().filter(|name| **name != only);
                let product = others
                    .map(|name| of(name, &known).flatten())
                    .try_fold(1i64, |all, one| all.checked_mul(one?));
                let rest = size.zip(product).filter(|(size, product)| *product > 0 && size % product == 0);
                known.push((only, rest.map(|(size, product)| size / product)));
            }
            _ => known.extend(missing.into_iter().map(|name| (name, None))),
        }
    }
    let size = |name: &str| match name {
        "1" => Some(1),
        name => known.iter().find(|(other, _)| *other == name).and_then(|(_, size)| *size),
    };
    Some(
        right
            .iter()
            .map(|group| group.iter().try_fold(1i64, |all, name| all.checked_mul(size(name)?)))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::rearranged;

    #[test]
    fn patterns_join_and_divide_axes() {
        let of = |shape: &[i64], pattern, sizes: &[(&str, i64)]| {
            let shape: Vec<Option<i64>> = shape.iter().copied().map(Some).collect();
            let sizes: Vec<(&str, Option<i64>)> =
                sizes.iter().map(|(name, size)| (*name, Some(*size))).collect();
            rearranged(&shape, pattern, &sizes)
        };
        assert_eq!(of(&[1, 7, 4, 4], "b c h w -> b (h w) c", &[]), Some(vec![Some(1), Some(16), Some(7)]));
        assert_eq!(
            of(&[1, 3, 8, 8], "b c (h p) (w q) -> b (h w) (p q c)", &[("p", 2), ("q", 2)]),
            Some(vec![Some(1), Some(16), Some(12)])
        );
        assert_eq!(of(&[1, 3], "1 d -> n 1 d", &[("n", 5)]), Some(vec![Some(5), Some(1), Some(3)]));
        assert_eq!(of(&[1, 3, 8], "b ... -> b (...)", &[]), None);
        assert_eq!(of(&[2, 3], "a b c -> c", &[]), None);
        assert_eq!(of(&[2, 3, 4, 5], "b c h w -> b c", &[]), Some(vec![Some(2), Some(3)]));
    }
}
