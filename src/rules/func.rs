//! The functions that expressions know, by name, with what they take.

/// What a function takes at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// One value of the graph: `x`, or `b?` where the function asks whether it is there.
    Value,
    /// All values of `xs...`; a single value is taken as a list of one.
    Values,
    /// Any expression.
    Expr,
}

/// Declares [`Func`] and its table in one place.
macro_rules! functions {
    ($($(#[$doc:meta])* $func:ident $name:literal ($($arg:ident),*) $(optional $optional:literal)? $(from $source:ident)?;)*) => {
        /// A function of the expression language.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Func {
            $($(#[$doc])* $func,)*
        }

        impl Func {
            pub const ALL: &'static [Func] = &[$(Func::$func),*];

            /// Its name in a rule.
            pub fn name(self) -> &'static str {
                match self { $(Func::$func => $name),* }
            }

            /// What it takes, place by place.
            pub fn args(self) -> &'static [Arg] {
                match self { $(Func::$func => &[$(Arg::$arg),*]),* }
            }

            /// How many of the last arguments may be left out.
            pub fn optional_args(self) -> usize {
                match self { $(Func::$func => 0 $(+ $optional)?),* }
            }

            /// Whether it asks the graph (or the e-graph); the others are computed in `arith`.
            pub fn asks_host(self) -> bool {
                match self { $(Func::$func => false $(|| stringify!($source) == "host")?),* }
            }
        }
    };
}

functions! {
    /// Its element type.
    Dtype "dtype" (Value) from host;
    /// The number of its axes.
    Rank "rank" (Value) from host;
    /// The sizes of its axes, each an integer or symbolic.
    Shape "shape" (Value) from host;
    /// The size of an axis; a negative one counts from the end.
    Dim "dim" (Value, Expr) from host;
    /// The number of its elements.
    Numel "numel" (Value) from host;
    /// Whether every axis has a size that is a number.
    IsStatic "is_static" (Value) from host;
    /// Whether all its elements are known.
    IsConst "is_const" (Value) from host;
    /// Whether all its elements stand in the file: an initializer, or what a `Constant` gives. What is constant and has
    /// yet to be computed is not, though it would be once it is folded.
    IsStored "is_stored" (Value) from host;
    /// Its elements in row-major order, where they are known and few.
    Const "const" (Value) from host;
    /// What every element is, where they are all the same: of weights of any size, too.
    Filling "filling" (Value) from host;
    /// Its only element, where it is known and the value has just one.
    Scalar "scalar" (Value) from host;
    /// Its elements as integers that may be symbolic: of shape computations.
    Elements "elements" (Value) from host;
    /// Whether every element is known to be at least this.
    AtLeast "at_least" (Value, Expr) from host;
    /// How many inputs of nodes take it, plus one for each output of the graph that it is.
    Uses "uses" (Value) from host;
    /// Whether it is an output of the graph.
    IsOutput "is_output" (Value) from host;
    /// Whether it is an input of the graph without a default.
    IsInput "is_input" (Value) from host;
    /// Whether it is there: for `b?` and `@a?`.
    IsPresent "is_present" (Expr) from host;
    /// How many values `xs...` stands for.
    Count "count" (Values) from host;
    /// The name of the node that makes it: of the graph as it stands, so for rules that report or mend.
    NodeName "node_name" (Value) from host;
    /// The path of the module that the node which makes it is from, as the exporter recorded it: `/encoder/layers.0`.
    /// Undefined where it recorded none.
    ModulePath "module_path" (Value) from host;
    /// `is_like(text, "/encoder/**")`: whether a text has this form, which is written out: `*` is anything but `/`,
    /// `**` anything, `?` one character.
    IsLike "is_like" (Expr, Expr);
    /// The version of ai.onnx, or of the domain named, in force for the match.
    Opset "opset" (Expr) optional 1 from host;
    /// `keeps_zeros(s, x)`: whether a Reshape of `x` to `s` means the same whether a 0 in `s` is a size or
    /// copies the size of `x`: no element can be 0, unless it is the size that would be copied, or a multiple of it.
    KeepsZeros "keeps_zeros" (Value, Value) from host;
    /// Whether two values have equal shapes.
    SameShape "same_shape" (Value, Value) from host;

    /// How many items a list has.
    Len "len" (Expr);
    /// The first item.
    First "first" (Expr);
    /// The last item.
    Last "last" (Expr);
    /// The items in the opposite order.
    Reverse "reverse" (Expr);
    /// All items of the lists, in order.
    Join "join" (Expr, Expr);
    /// `slice(list, start, end)`: a negative bound counts from the end; without `end`, to the end.
    Slice "slice" (Expr, Expr, Expr) optional 1;
    /// `select(list, indices)`: the items at the indices.
    Select "select" (Expr, Expr);
    /// `without(list, indices)`: the items but for those at the indices.
    Without "without" (Expr, Expr);
    /// `replace(list, index, item)`.
    Replace "replace" (Expr, Expr, Expr);
    /// `insert(list, index, item)`: before the item at the index.
    Insert "insert" (Expr, Expr, Expr);
    /// `repeat(item, n)`: a list of `n` of them.
    Repeat "repeat" (Expr, Expr);
    /// `iota(n)`: 0, 1, … n−1.
    Iota "iota" (Expr);
    /// `range(start, end)`: start, … end−1.
    Range "range" (Expr, Expr);
    /// Ascending.
    Sorted "sorted" (Expr);
    /// Without repetitions; the first of each stays.
    Unique "unique" (Expr);
    /// The sum of a list of numbers.
    Sum "sum" (Expr);
    /// The product of a list of numbers.
    Product "product" (Expr);
    /// The least of a list of numbers; of two numbers, or two lists element by element.
    Min "min" (Expr, Expr) optional 1;
    /// The greatest of a list of numbers; of two numbers, or two lists element by element.
    Max "max" (Expr, Expr) optional 1;
    /// The absolute value.
    Abs "abs" (Expr);
    /// The square root.
    Sqrt "sqrt" (Expr);
    /// The cosine.
    Cos "cos" (Expr);
    /// Whether a size is one that inputs leave free, not a number.
    IsFree "is_free" (Expr);
    /// Whether two sizes are known to be equal; false where they may be.
    IsSame "is_same" (Expr, Expr);
    /// Whether every item equals this one.
    All "all" (Expr, Expr);
    /// `axes(list, rank)`: axes in range, each made non-negative.
    NormalizeAxes "normalize_axes" (Expr, Expr);
    /// `normalize_axis(axis, rank)`: as `normalize_axes` does for each of many.
    NormalizeAxis "normalize_axis" (Expr, Expr);
    /// `compose(p, q)`: the permutation of doing Transpose by p, then by q.
    Compose "compose" (Expr, Expr);
    /// The permutation that undoes this one.
    Inverse "inverse" (Expr);
    /// Whether a permutation moves nothing.
    IsIdentity "is_identity" (Expr);
    /// Whether it is a permutation of 0 … n−1.
    IsPermutation "is_permutation" (Expr);
    /// Bits of one element of a type.
    ElemBits "elem_bits" (Expr);
    /// Whether it is an integer type (bool is not).
    IsInteger "is_integer" (Expr);
    /// Whether it is a floating-point type.
    IsFloat "is_float" (Expr);
    /// Whether it is a signed type: integers with a sign, and every float.
    IsSigned "is_signed" (Expr);
    /// `cast_fits(from, to)`: whether every value of the first type has an equal one in the second.
    CastFits "cast_fits" (Expr, Expr);
    /// `default(@a, item)`: the attribute, or the item where it is absent.
    Default "default" (Expr, Expr);
    /// `if(condition, then, otherwise)`.
    If "if" (Expr, Expr, Expr);
    /// An integer as a float.
    ToFloat "to_float" (Expr);
    /// A number without a fraction as an integer.
    ToInt "to_int" (Expr);
    /// `tensor(type, list)`: a tensor of one axis; of no axis for a number.
    Tensor "tensor" (Expr, Expr);
    /// `reshaped(tensor, dims)`.
    Reshaped "reshaped" (Expr, Expr);
    /// `full(type, dims, number)`.
    Full "full" (Expr, Expr, Expr);
    /// An equation of Einsum without spaces, with its result, and with letters in the order in which they first stand:
    /// `equation("ij, jk")` is `"ab,bc->ac"`.
    Equation "equation" (Expr);
    /// What an equation of Einsum says of a product of two values, as lists of axes: `[batch of the first, its own, those
    /// summed up, batch of the second, its own, those summed up, where each axis of the result is among batch, own of the
    /// first, own of the second]`. Undefined for other equations: with an ellipsis, with a letter twice in one value,
    /// or summed up in one value alone.
    Contraction "contraction" (Expr);
}

impl Func {
    pub fn by_name(name: &str) -> Option<Func> {
        Func::ALL.iter().copied().find(|func| func.name() == name)
    }

    /// Whether it answers true or false.
    pub fn is_predicate(self) -> bool {
        let is_named_so = ["is_", "same_", "at_", "cast_"].iter().any(|start| self.name().starts_with(start));
        is_named_so || matches!(self, Func::All | Func::KeepsZeros)
    }

    /// Whether it asks what an equal form of a value need not share: nothing is to depend on it that is chosen for
    /// being equal.
    pub fn asks_origin(self) -> bool {
        matches!(self, Func::IsStored | Func::NodeName | Func::ModulePath)
    }

    /// The least and greatest number of arguments.
    pub fn arity(self) -> (usize, usize) {
        let most = self.args().len();
        (most - self.optional_args(), most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for &func in Func::ALL {
            assert_eq!(Func::by_name(func.name()), Some(func), "{}", func.name());
            assert!(func.arity().0 <= func.arity().1, "{}", func.name());
        }
    }
}
