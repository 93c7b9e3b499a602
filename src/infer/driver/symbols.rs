//! Invented symbols for sizes that inference cannot express otherwise.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::dim::{Bounds, Dim, Interval, Symbol};
use crate::graph::{Model, NodeId, ValueId};
use crate::infer::call::Fresh;
use crate::infer::fact::{ConstValue, Fact, TensorFact};
use crate::infer::shape::{Shape, Size};

/// A chain of local function calls; values of a function are distinct on each path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Path(u32);

/// All symbols invented so far. Each axis of a value on a path has at most one invented symbol.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbols {
    made: FxHashMap<(Path, ValueId, usize), Symbol>,
    all: FxHashSet<Symbol>,
    names: FxHashSet<String>,
    /// Last number appended to each taken name.
    last: FxHashMap<String, u64>,
    /// Symbols that [`Symbols::name_axes`] assigned, about whose sizes nothing is known.
    unknown: FxHashSet<Symbol>,
    /// Symbols of unnamed axes of model inputs, whose sizes the caller chooses.
    free: FxHashSet<Symbol>,
    /// Symbols that are sizes of axes of model inputs.
    inputs: FxHashSet<Symbol>,
    /// Declared sizes that replace invented symbols.
    called: FxHashMap<Symbol, Dim>,
    paths: FxHashMap<(Path, NodeId), Path>,
    /// Symbols in the order of the requests, to find those that a subgraph requested.
    log: Vec<Symbol>,
    /// Ranges of new symbols, not yet moved to the bounds.
    ranges: Vec<(Symbol, Interval)>,
}

impl Symbols {
    /// Reserves the names of the symbols in an expression.
    pub fn reserve(&mut self, dim: &Dim) {
        self.names.extend(dim.symbols().map(|symbol| symbol.name().to_owned()));
    }

    /// Returns the path of a function called by `call` on `path`.
    pub fn enter(&mut self, path: Path, call: NodeId) -> Path {
        let next = Path(self.paths.len() as u32 + 1);
        *self.paths.entry((path, call)).or_insert(next)
    }

    /// Returns the symbol of an axis: `{value}_dim_{axis}`, numbered if the name is taken.
    pub fn of_axis(&mut self, path: Path, value: ValueId, axis: usize, model: &Model) -> Symbol {
        let names = &mut self.names;
        let symbol = self.made.entry((path, value, axis)).or_insert_with(|| {
            let wanted = format!("{}_dim_{axis}", model.values[value].name);
            let last = self.last.entry(wanted.clone()).or_default();
            let mut name = wanted.clone();
            while !names.insert(name.clone()) {
                *last += 1;
                name = format!("{wanted}_{last}");
            }
            let symbol = Symbol::size(&name);
            self.all.insert(symbol.clone());
            symbol
        });
        self.log.push(symbol.clone());
        symbol.clone()
    }

    /// Returns true if inference invented the symbol.
    pub fn has_made(&self, symbol: &Symbol) -> bool {
        self.all.contains(symbol)
    }

    /// Returns true if a symbol is the size of an unnamed axis of a model input.
    pub fn is_free(&self, symbol: &Symbol) -> bool {
        self.free.contains(symbol)
    }

    /// Records the declared sizes that replace invented symbols. Symbols of input axes are not replaced.
    pub fn learn_names(&mut self, inferred: &Fact, declared: &Fact) {
        let (Fact::Tensor(inferred), Fact::Tensor(declared)) = (inferred, declared) else { return };
        let (Some(made), Some(called)) = (inferred.shape.dims(), declared.shape.dims()) else { return };
        for (made, called) in made.iter().zip(called) {
            let made = made
                .as_ref()
                .and_then(Dim::as_symbol)
                .filter(|made| self.all.contains(made) && !self.free.contains(made));
            if let (Some(made), Some(called)) = (made, called.as_ref())
                && called.as_symbol() != Some(made)
            {
                self.called.insert(made.clone(), called.clone());
            }
        }
    }

    /// Returns the declared size that replaces an invented symbol, if any.
    pub fn called(&self, symbol: &Symbol) -> Option<&Dim> {
        self.called.get(symbol)
    }

    /// Clears the log but keeps the symbols.
    pub fn forget_log(&mut self) {
        self.log.clear();
    }

    /// Returns the current position in the log.
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Returns the symbols requested since `mark`.
    pub fn since(&self, mark: usize) -> FxHashSet<Symbol> {
        self.log[mark..].iter().cloned().collect()
    }

    /// Moves the ranges of new symbols to `bounds`.
    pub fn take_ranges(&mut self, bounds: &mut Bounds) {
        for (symbol, range) in self.ranges.drain(..) {
            bounds.restrict(&symbol, range);
        }
    }

    /// Assigns a symbol to every axis of unknown size.
    pub fn name_axes(&mut self, fact: &mut Fact, path: Path, value: ValueId, model: &Model) {
        let Fact::Tensor(tensor) = fact else { return };
        let Some(dims) = tensor.shape.dims().filter(|dims| dims.iter().any(Option::is_none)) else { return };
        let named = |(axis, dim): (usize, &Size)| {
            Some(dim.clone().unwrap_or_else(|| self.of_unknown(path, value, axis, model)))
        };
        tensor.shape = Shape::new(dims.iter().enumerate().map(named).collect::<Vec<_>>());
    }

    /// Assigns a symbol to every unnamed axis of an input of the model.
    pub fn name_free_axes(&mut self, fact: &mut Fact, value: ValueId, model: &Model) {
        let Fact::Tensor(tensor) = fact else { return };
        let Some(dims) = tensor.shape.dims().filter(|dims| dims.iter().any(Option::is_none)) else { return };
        let mut dims = dims.to_vec();
        for (axis, dim) in dims.iter_mut().enumerate().filter(|(_, dim)| dim.is_none()) {
            let symbol = self.of_axis(Path::default(), value, axis, model);
            self.free.insert(symbol.clone());
            *dim = Some(symbol.into());
        }
        tensor.shape = Shape::new(dims);
    }

    /// Records the symbols that are sizes of a model input.
    pub fn add_input_axes(&mut self, fact: &Fact) {
        let dims = fact.dims().unwrap_or_default().iter().flatten();
        self.inputs.extend(dims.filter_map(Dim::as_symbol).cloned());
    }

    fn of_unknown(&mut self, path: Path, value: ValueId, axis: usize, model: &Model) -> Dim {
        let symbol = self.of_axis(path, value, axis, model);
        self.unknown.insert(symbol.clone());
        symbol.into()
    }

    /// Removes sizes that are symbols assigned by [`Symbols::name_axes`].
    pub fn without_unknown(&self, fact: &Fact) -> Fact {
        without_symbols(fact, &self.unknown)
    }

    /// Removes sizes that are symbols of unnamed input axes.
    pub fn without_free(&self, fact: &Fact) -> Fact {
        without_symbols(fact, &self.free)
    }
}

/// Removes these symbols from the dimensions of a tensor fact.
fn without_symbols(fact: &Fact, symbols: &FxHashSet<Symbol>) -> Fact {
    let Fact::Tensor(tensor) = fact else { return fact.clone() };
    let is_one = |dim: &&Dim| dim.as_symbol().is_some_and(|symbol| symbols.contains(symbol));
    let Some(dims) = tensor.shape.dims().filter(|dims| dims.iter().flatten().any(|dim| is_one(&dim))) else {
        return fact.clone();
    };
    let known = |size: &Size| size.clone().filter(|dim| !is_one(&dim));
    let shape = Shape::new(dims.iter().map(known).collect::<Vec<_>>());
    Fact::Tensor(TensorFact { shape, ..tensor.clone() })
}

/// Symbol source for one call.
pub(super) struct FreshFor<'a> {
    pub symbols: &'a mut Symbols,
    pub model: &'a Model,
    pub node: NodeId,
    pub path: Path,
    /// Whether to drop the ranges of new symbols, because the node is in a loop.
    /// A range follows from facts that a later pass may weaken, so only the default range is safe.
    pub in_loop: bool,
}

impl Fresh for FreshFor<'_> {
    fn size(&mut self, output: usize, axis: usize, range: Interval) -> Option<Dim> {
        let value = self.model.nodes[self.node].output(output)?;
        let symbol = self.symbols.of_axis(self.path, value, axis, self.model);
        if !self.in_loop {
            self.symbols.ranges.push((symbol.clone(), range));
        }
        Some(symbol.into())
    }

    fn is_input_axis(&self, symbol: &Symbol) -> bool {
        self.symbols.inputs.contains(symbol)
    }
}

/// Removes the sizes and elements of a fact that contain one of these symbols.
pub(super) fn without(fact: Fact, symbols: &FxHashSet<Symbol>) -> Fact {
    if symbols.is_empty() {
        return fact;
    }
    let keep = |size: &Size| size.clone().filter(|dim| !dim.symbols().any(|symbol| symbols.contains(symbol)));
    let tensor = |tensor: TensorFact| {
        let shape = tensor
            .shape
            .dims()
            .map_or(Shape::UNKNOWN, |dims| Shape::new(dims.iter().map(keep).collect::<Vec<_>>()));
        let value = match &tensor.value {
            ConstValue::Ints(elements) => {
                let left: Vec<Size> = elements.iter().map(keep).collect();
                if left.iter().all(Option::is_none) {
                    ConstValue::Nothing
                } else {
                    ConstValue::Ints(left.into())
                }
            }
            other => other.clone(),
        };
        TensorFact { elem: tensor.elem, shape, value }
    };
    match fact {
        Fact::Tensor(of) => Fact::Tensor(tensor(of)),
        Fact::SparseTensor(of) => Fact::SparseTensor(tensor(of)),
        Fact::Sequence(of) => Fact::Sequence(of.map(|fact| without(fact.clone(), symbols))),
        Fact::Optional(of) => Fact::optional(without(*of, symbols)),
        other => other,
    }
}
