//! Functions of `itertools`, `functools` and `operator`, and built-in functions on numbers.

use super::calls::Args;
use super::machine::{Eval, Machine};
use super::value::Value;

/// Maximum number of items of a product.
const MAX_ITEMS: usize = 10_000;

impl<'t> Machine<'t> {
    /// Calls a function on iterables, or returns `None` if the function is not modeled.
    pub fn iterator_call(&mut self, path: &str, args: &Args<'t>) -> Option<Eval<'t>> {
        let first = args.positional.first().map(|(value, _)| value.clone());
        let is_plain = !args.open && args.keywords.is_empty();
        let is_iterator =
            path.starts_with("itertools.") || path.starts_with("tqdm.") || path == "rich.progress.track";
        if is_iterator && !self.is_iterated_once(args.node) {
            return Some(Ok(Value::Unknown));
        }
        let bar = path.rsplit('.').next() == Some("tqdm") && path.starts_with("tqdm")
            || path == "rich.progress.track";
        if bar {
            return Some(Ok(first.or_else(|| args.keyword("iterable").cloned()).filter(|_| !args.open)?));
        }
        let items = match path {
            "tqdm.trange" | "tqdm.auto.trange" => {
                let plain = Args { keywords: vec![], ..args.clone() };
                return Some(self.builtin_call("range", &plain).map(Option::unwrap_or_default));
            }
            "itertools.chain" if is_plain => {
                let mut all = vec![];
                for value in args.values() {
                    all.extend(self.iterated(&value)?);
                }
                all
            }
            "itertools.chain.from_iterable" if is_plain => {
                let mut all = vec![];
                for value in self.iterated(&first?)? {
                    all.extend(self.iterated(&value)?);
                }
                all
            }
            "itertools.pairwise" if is_plain => {
                let items = self.iterated(&first?)?;
                items.windows(2).map(|pair| Value::tuple(pair.to_vec())).collect()
            }
            "itertools.islice" if is_plain && args.positional.len() == 2 => {
                let count = usize::try_from(args.get(1, "")?.int()?).ok()?;
                self.iterated(&first?)?.into_iter().take(count).collect()
            }
            "itertools.product" if is_plain => {
                let mut rows: Vec<Vec<Value<'t>>> = vec![vec![]];
                for value in args.values() {
                    let items = self.iterated(&value)?;
                    if rows.len() * items.len() > MAX_ITEMS {
                        return None;
                    }
                    let with = |row: &Vec<Value<'t>>| {
                        let row = row.clone();
                        items.clone().into_iter().map(move |item| [row.clone(), vec![item]].concat())
                    };
                    rows = rows.iter().flat_map(with).collect();
                }
                rows.into_iter().map(Value::tuple).collect()
            }
            "functools.reduce" if is_plain => {
                let mut items = self.iterated(args.get(1, "")?)?.into_iter();
                let mut result = args.get(2, "").cloned().or_else(|| items.next())?;
                for item in items {
                    match self.invoke(&first.clone()?, &Args::of(args.node, vec![result, item])) {
                        Ok(value) => result = value,
                        Err(stop) => return Some(Err(stop)),
                    }
                }
                return Some(Ok(result));
            }
            "operator.mul" | "operator.add" | "operator.sub" | "operator.floordiv" | "operator.truediv"
                if is_plain =>
            {
                let operator = match path {
                    "operator.mul" => "*",
                    "operator.add" => "+",
                    "operator.sub" => "-",
                    "operator.floordiv" => "//",
                    _ => "/",
                };
                let (left, right) = (first?, args.get(1, "").cloned()?);
                return Some(self.binary(operator, &left, &right, args.node));
            }
            "divmod" => match (first?, args.get(1, "").cloned()?) {
                (left @ Value::Int(_), right @ Value::Int(_)) => {
                    let parts = ["//", "%"].map(|operator| self.binary(operator, &left, &right, args.node));
                    let parts: Result<Vec<Value<'t>>, _> = parts.into_iter().collect();
                    return Some(parts.map(Value::tuple));
                }
                _ => return None,
            },
            "pow" if is_plain && args.positional.len() == 2 => {
                return Some(self.binary("**", &first?, &args.get(1, "").cloned()?, args.node));
            }
            "ord" => match first?.text()?.chars().collect::<Vec<char>>()[..] {
                [letter] => return Some(Ok(Value::Int(i64::from(u32::from(letter))))),
                _ => return None,
            },
            _ => return None,
        };
        Some(Ok(self.list(items)))
    }
}
