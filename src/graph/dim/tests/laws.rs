//! Tests [`Dim`] on random expressions; many tests compare it with a directly evaluated tree.

use crate::graph::dim::{Answer, Bounds, Dim, Interval, Symbol};

/// A linear congruential generator (constants of Knuth's MMIX), so that all runs test the same cases.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn between(&mut self, lo: i64, hi: i64) -> i64 {
        lo + self.below((hi - lo + 1) as u64) as i64
    }
}

enum Tree {
    Leaf(Dim),
    Op(&'static str, Box<Tree>, Box<Tree>),
}

const OPS: [&str; 10] = ["+", "-", "*", "+", "floor", "ceil", "trunc", "mod", "min", "max"];

fn symbols() -> [Symbol; 4] {
    [Symbol::size("a"), Symbol::size("b"), Symbol::size("seq-len"), Symbol::integer("i")]
}

impl Tree {
    fn random(random: &mut Random, depth: u64, symbols: &[Symbol]) -> Tree {
        if depth == 0 || random.below(5) == 0 {
            return Tree::Leaf(match random.below(3) {
                0 => Dim::known(random.between(-4, 9)),
                _ => symbols[random.below(symbols.len() as u64) as usize].clone().into(),
            });
        }
        let op = OPS[random.below(OPS.len() as u64) as usize];
        let left = Tree::random(random, depth - 1, symbols);
        Tree::Op(op, Box::new(left), Box::new(Tree::random(random, depth - 1, symbols)))
    }

    fn dim(&self) -> Option<Dim> {
        let Tree::Op(op, a, b) = self else {
            let Tree::Leaf(leaf) = self else { return None };
            return Some(leaf.clone());
        };
        let (a, b) = (a.dim()?, b.dim()?);
        match *op {
            "+" => a.add(b),
            "-" => a.sub(b),
            "*" => a.mul(b),
            "floor" => a.floor_div(b),
            "ceil" => a.ceil_div(b),
            "trunc" => a.trunc_div(b),
            "mod" => a.modulo(b),
            "min" => a.minimum(b),
            _ => a.maximum(b),
        }
    }

    /// Evaluates the tree; `None` on division by 0.
    fn value(&self, value: &dyn Fn(&Symbol) -> Option<i64>) -> Option<i64> {
        let Tree::Op(op, a, b) = self else {
            let Tree::Leaf(leaf) = self else { return None };
            return leaf.eval(value);
        };
        let (a, b) = (a.value(value)?, b.value(value)?);
        if b == 0 && ["floor", "ceil", "trunc", "mod"].contains(op) {
            return None;
        }
        let floor = |a: i64, b: i64| (a as f64 / b as f64).floor() as i64;
        Some(match *op {
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            "floor" => floor(a, b),
            "ceil" => -floor(-a, b),
            "trunc" => a / b,
            "mod" => a - b * floor(a, b),
            "min" => a.min(b),
            _ => a.max(b),
        })
    }
}

struct Assignment([i64; 4]);

impl Assignment {
    fn random(random: &mut Random) -> Self {
        Assignment([
            random.between(0, 12),
            random.between(2, 12),
            random.between(0, 3),
            random.between(-9, 9),
        ])
    }

    fn get(&self, symbol: &Symbol) -> Option<i64> {
        symbols().iter().position(|s| s == symbol).map(|i| self.0[i])
    }
}

fn bounds() -> Bounds {
    let mut bounds = Bounds::default();
    let [a, b, c, i] = symbols();
    assert!(
        bounds.restrict(&a, Interval::new(0, 12)) && bounds.restrict(&b, Interval { lo: Some(2), hi: None })
    );
    assert!(bounds.restrict(&c, Interval::new(0, 3)) && bounds.restrict(&i, Interval::new(-9, 9)));
    bounds
}

/// Calls `check` with random expressions that a [`Dim`] can represent.
fn for_each_case(count: usize, mut check: impl FnMut(&mut Random, &Tree, &Dim)) {
    let mut random = Random(20240229);
    let mut fit = 0;
    for _ in 0..count {
        let depth = 1 + random.below(4);
        let tree = Tree::random(&mut random, depth, &symbols());
        if let Some(dim) = tree.dim() {
            check(&mut random, &tree, &dim);
            fit += 1;
        }
    }
    assert!(fit * 10 > count * 8, "{fit} of {count} cases fit");
}

#[test]
fn canonical_form_preserves_values() {
    for_each_case(1000, |random, tree, dim| {
        for _ in 0..12 {
            let assignment = Assignment::random(random);
            let get = |symbol: &Symbol| assignment.get(symbol);
            if let Some(expected) = tree.value(&get) {
                assert_eq!(dim.eval(&get), Some(expected), "{dim} at {:?}", assignment.0);
            }
        }
    });
}

#[test]
fn text_round_trips() {
    let sizes = |dim: &Dim| dim.substitute(&|s| Some(Dim::symbol(s.name())));
    for_each_case(1000, |_, _, dim| {
        let Some(dim) = sizes(dim) else { return };
        assert_eq!(Dim::parse(&dim.to_string()), dim, "{dim}");
    });
}

#[test]
fn canonicalization_is_idempotent() {
    for_each_case(1000, |_, _, dim| {
        assert_eq!(dim.substitute(&|s| Some(s.clone().into())).as_ref(), Some(dim), "{dim}");
    });
}

#[test]
fn substitution_commutes_with_evaluation() {
    for_each_case(1000, |random, _, dim| {
        let image = Tree::random(random, 2, &symbols()).dim();
        let [_, b, ..] = symbols();
        let Some(substituted) = dim.substitute(&|s| image.clone().filter(|_| *s == b)) else { return };
        for _ in 0..8 {
            let assignment = Assignment::random(random);
            let get = |symbol: &Symbol| assignment.get(symbol);
            let through = |symbol: &Symbol| match &image {
                Some(image) if *symbol == b => image.eval(&get).filter(|n| *n >= 0),
                _ => get(symbol),
            };
            if let (Some(expected), Some(found)) = (dim.eval(&through), substituted.eval(&get)) {
                assert_eq!(found, expected, "{dim}, then {substituted} at {:?}", assignment.0);
            }
        }
    });
}

#[test]
fn ranges_contain_every_value() {
    let bounds = bounds();
    for_each_case(1000, |random, _, dim| {
        let (tight, default) = (dim.range(&bounds), dim.range(&Bounds::default()));
        for _ in 0..12 {
            let assignment = Assignment::random(random);
            if let Some(n) = dim.eval(&|symbol| assignment.get(symbol)) {
                assert!(tight.contains(n) && default.contains(n), "{dim} is {n} at {:?}", assignment.0);
            }
        }
    });
}

#[test]
fn definite_answers_are_correct() {
    let bounds = bounds();
    let mut certain = 0;
    for_each_case(1000, |random, _, dim| {
        let Some(other) = Tree::random(random, 2, &symbols()).dim() else { return };
        let answers =
            [dim.equals(&other, &bounds), dim.at_least(&other, &bounds), other.divides(dim, &bounds)];
        certain += answers.iter().filter(|answer| **answer != Answer::Unknown).count();
        for _ in 0..12 {
            let assignment = Assignment::random(random);
            let get = |symbol: &Symbol| assignment.get(symbol);
            let (Some(a), Some(b)) = (dim.eval(&get), other.eval(&get)) else { continue };
            let divides = if b == 0 { a == 0 } else { a % b == 0 };
            for (answer, truth) in answers.into_iter().zip([a == b, a >= b, divides]) {
                let wrong = if truth { Answer::Never } else { Answer::Always };
                assert_ne!(answer, wrong, "{answers:?} of {dim} and {other} at {:?}", assignment.0);
            }
        }
    });
    assert!(certain > 400, "{certain} certain answers");
}
