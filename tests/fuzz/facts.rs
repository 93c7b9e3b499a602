//! Compares inferred facts with the values of a run.

use onnx_lint::graph::dim::{Dim, Symbol};
use onnx_lint::graph::{Id, Model, ValueId};
use onnx_lint::infer::eval::{Array, Val};
use onnx_lint::infer::{ConstValue, Fact, Facts, Size, TensorFact};
use rustc_hash::FxHashMap;

use crate::case::{Ran, SYMBOLS, size_of};
use crate::same::describe;

/// The values of symbols in one run.
struct Symbols(FxHashMap<Symbol, i64>);

/// Returns the first fact that a run contradicts.
pub fn contradicted(model: &Model, facts: &Facts, ran: &Ran, sizes: usize) -> Option<String> {
    // Reshape copies the input's dimension for a size of 0, but inference assumes that dynamic dimensions are
    // not 0: skip the run.
    if ran.values.keys().any(|&value| is_reshaped_by_zero(model, ran, value)) {
        return None;
    }
    let mut symbols = Symbols(FxHashMap::default());
    for name in SYMBOLS {
        symbols.0.insert(Symbol::size(name), size_of(name, sizes) as i64);
    }
    let mut values: Vec<(&ValueId, &Val)> = ran.values.iter().collect();
    values.sort_by_key(|(value, _)| value.index());
    for (value, val) in &values {
        symbols.learn(&facts[**value], val);
    }
    let broken = symbols.0.iter().find(|(symbol, known)| !facts.bounds.of(symbol).contains(**known));
    if let Some((symbol, known)) = broken {
        return Some(format!("the symbol {} is {known}, outside of its range", Dim::from(symbol.clone())));
    }
    values.into_iter().find_map(|(&value, val)| {
        let why = symbols.contradicts(&facts[value], val)?;
        let maker = model.producer(value).map(|(node, _)| model.nodes[node].op_name()).unwrap_or_default();
        Some(format!("`{}` of {maker}: {why}", model.values[value].name))
    })
}

fn is_reshaped_by_zero(model: &Model, ran: &Ran, value: ValueId) -> bool {
    let node = model.producer(value).map(|(node, _)| &model.nodes[node]).filter(|node| node.is("Reshape"));
    let target = node.and_then(|node| ran.values.get(&node.input(1)?));
    matches!(target, Some(Val::Tensor(target)) if target.ints().is_ok_and(|sizes| sizes.contains(&0)))
}

impl Symbols {
    /// Records the value of a symbol if a dimension of a fact consists only of this symbol.
    fn learn(&mut self, fact: &Fact, val: &Val) {
        let (Fact::Tensor(fact), Val::Tensor(array)) = (fact, val) else { return };
        let dims = fact.shape.dims().unwrap_or_default();
        for (dim, &size) in dims.iter().zip(array.shape()) {
            self.bind(dim, size as i64);
        }
        if let (ConstValue::Ints(elements), Ok(ints)) = (&fact.value, array.ints()) {
            for (element, int) in elements.iter().zip(ints) {
                self.bind(element, int as i64);
            }
        }
    }

    fn bind(&mut self, dim: &Size, value: i64) {
        if let Some(symbol) = dim.as_ref().and_then(Dim::as_symbol) {
            self.0.entry(symbol.clone()).or_insert(value);
        }
    }

    fn is_wrong(&self, dim: &Size, value: i128) -> bool {
        let known = dim.as_ref().and_then(|dim| dim.eval(&|symbol| self.0.get(symbol).copied()));
        known.is_some_and(|known| i128::from(known) != value)
    }

    fn contradicts(&self, fact: &Fact, val: &Val) -> Option<String> {
        match (fact, val) {
            (Fact::Unknown, _) => None,
            (Fact::Tensor(fact), Val::Tensor(array)) => self.tensor(fact, array),
            (Fact::Sequence(items), Val::Sequence(vals)) => {
                if let Some(each) = items.facts() {
                    if each.len() != vals.len() {
                        return Some(format!("{} elements, not {}", vals.len(), each.len()));
                    }
                    return each.iter().zip(vals).find_map(|(fact, val)| self.contradicts(fact, val));
                }
                vals.iter().find_map(|val| self.contradicts(items, val))
            }
            (Fact::Optional(_), Val::Optional(None)) => None,
            (Fact::Optional(inner), Val::Optional(Some(val))) => self.contradicts(inner, val),
            // An optional may be represented by its content.
            (Fact::Optional(inner), val) => self.contradicts(inner, val),
            (Fact::Map { .. }, Val::Map(..)) => None,
            (fact, _) => Some(format!("it is not a {fact}")),
        }
    }

    fn tensor(&self, fact: &TensorFact, array: &Array) -> Option<String> {
        let wrong = || Some(format!("{} is not {fact}", describe(array)));
        if fact.elem.is_some_and(|elem| elem != array.elem()) {
            return wrong();
        }
        if let Some(dims) = fact.shape.dims()
            && (dims.len() != array.rank()
                || dims.iter().zip(array.shape()).any(|(dim, &size)| self.is_wrong(dim, size as i128)))
        {
            return wrong();
        }
        match &fact.value {
            ConstValue::Const(known) => {
                let is_same = match (known.f64s(), array.f64s()) {
                    (Ok(a), Ok(b)) => {
                        a.len() == b.len()
                            && a.iter()
                                .zip(&b)
                                .all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
                    }
                    _ => known.data() == array.data(),
                };
                (!is_same).then(|| format!("it is {:?}, not {:?}", array.data(), known.data()))
            }
            ConstValue::Ints(elements) => {
                let ints = array.ints().ok()?;
                let at =
                    elements.iter().zip(&ints).position(|(element, &int)| self.is_wrong(element, int))?;
                let known = elements[at].as_ref().map(Dim::to_string).unwrap_or_default();
                Some(format!("element {at} is {}, not {known}", ints[at]))
            }
            ConstValue::Weight(_) | ConstValue::Computed | ConstValue::Nothing => None,
        }
    }
}
