//! Functions of the expression language: their names, arguments and docs.

/// Kind of argument that a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// One graph value: `x` or `b?`.
    Value,
    /// All values of `xs...`; a single value counts as a list of one.
    Values,
    /// Any expression.
    Expr,
}

/// Declares [`Func`] and its table in one place.
macro_rules! functions {
    ($($(#[doc = $doc:literal])* $func:ident $name:literal ($($arg:ident),*) $(optional $optional:literal)? $(from $source:ident)?;)*) => {
        /// Function of the expression language.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Func {
            $($(#[doc = $doc])* $func,)*
        }

        impl Func {
            /// All functions.
            pub const ALL: &'static [Func] = &[$(Func::$func),*];

            /// Returns the name of the function in rules.
            pub fn name(self) -> &'static str {
                match self { $(Func::$func => $name),* }
            }

            /// Returns the documentation of the function.
            pub fn docs(self) -> &'static str {
                match self { $(Func::$func => concat!($($doc, "\n"),*)),* }
            }

            /// Returns the kinds of the arguments, in order.
            pub fn args(self) -> &'static [Arg] {
                match self { $(Func::$func => &[$(Arg::$arg),*]),* }
            }

            /// Returns how many of the last arguments are optional.
            pub fn optional_args(self) -> usize {
                match self { $(Func::$func => 0 $(+ $optional)?),* }
            }

            /// Returns true if the function inspects the graph or the e-graph.
            pub fn asks_host(self) -> bool {
                match self { $(Func::$func => false $(|| stringify!($source) == "host")?),* }
            }
        }
    };
}

functions! {
    /// Element type of a value.
    Dtype "dtype" (Value) from host;
    /// Number of axes of a value.
    Rank "rank" (Value) from host;
    /// Whether a value is known to have an element type; false if its type is unknown.
    IsDtype "is_dtype" (Value, Expr) from host;
    /// Sizes of the axes of a value, each an integer or symbolic.
    Shape "shape" (Value) from host;
    /// Size of an axis of a value; negative axes count from the end.
    Dim "dim" (Value, Expr) from host;
    /// Number of elements of a value.
    Numel "numel" (Value) from host;
    /// Whether all axes of a value are static.
    IsStatic "is_static" (Value) from host;
    /// Whether all elements of a value are known.
    IsConst "is_const" (Value) from host;
    /// Whether all elements of a value are stored in the file, as an initializer or in a `Constant`.
    /// In an e-graph, every constant counts as stored.
    IsStored "is_stored" (Value) from host;
    /// Elements of a small constant, in row-major order.
    Const "const" (Value) from host;
    /// Common value of all elements of a constant of any size; undefined if there are none or they differ.
    Filling "filling" (Value) from host;
    /// Only element of a constant with one element.
    Scalar "scalar" (Value) from host;
    /// Elements of an integer value, each an integer or symbolic, as in shape computations.
    Elements "elements" (Value) from host;
    /// Whether every element is at least the given number.
    AtLeast "at_least" (Value, Expr) from host;
    /// Whether the producers of a float value prove that no element is negative.
    IsNonnegative "is_nonnegative" (Value) from host;
    /// Whether each element of a float value is a finite element of a constant, for example of a
    /// reshaped, sliced or concatenated constant.
    IsFiniteWeights "is_finite_weights" (Value) from host;
    /// Number of uses of a value: as node inputs, and as graph outputs.
    Uses "uses" (Value) from host;
    /// Whether a value is an output of its graph, or of a subgraph that captures it.
    IsOutput "is_output" (Value) from host;
    /// Whether a value is an input of the graph without a default.
    IsInput "is_input" (Value) from host;
    /// Whether `b?` or `@a?` is present.
    IsPresent "is_present" (Expr) from host;
    /// Number of values that `xs...` binds.
    Count "count" (Values) from host;
    /// Name of the node that produces a value, for rules that report or fix the plain graph.
    NodeName "node_name" (Value) from host;
    /// Path of the module that a value comes from, such as `/encoder/layers.0`; undefined if the exporter
    /// did not record the path.
    ModulePath "module_path" (Value) from host;
    /// `is_like(text, "/encoder/**")`: whether a text matches a glob literal.
    /// `*` matches anything but `/`, `**` matches anything, `?` one character but `/`.
    IsLike "is_like" (Expr, Expr);
    /// Opset version in force for ai.onnx or the given domain.
    Opset "opset" (Expr) optional 1 from host;
    /// `keeps_zeros(s, x)`: whether a Reshape of `x` to `s` has the same result for `allowzero` 0 and 1.
    /// The results are equal if each element of the shape `s` is nonzero, equals the size of `x` that a 0
    /// would copy, or is a nonzero multiple of that size.
    KeepsZeros "keeps_zeros" (Value, Value) from host;
    /// Whether two values have equal shapes.
    SameShape "same_shape" (Value, Value) from host;

    /// Number of items in a list.
    Len "len" (Expr);
    /// First item of a list.
    First "first" (Expr);
    /// Last item of a list.
    Last "last" (Expr);
    /// Items of a list in reverse order.
    Reverse "reverse" (Expr);
    /// Concatenation of two to six lists.
    Join "join" (Expr, Expr, Expr, Expr, Expr, Expr) optional 4;
    /// `slice(list, start, end)`: a sublist; negative bounds count from the end, and `end` is optional.
    Slice "slice" (Expr, Expr, Expr) optional 1;
    /// `select(list, indices)`: the items at the indices.
    Select "select" (Expr, Expr);
    /// `without(list, indices)`: all items except those at the indices.
    Without "without" (Expr, Expr);
    /// `replace(list, index, item)`: the list with `item` instead of the item at the index.
    Replace "replace" (Expr, Expr, Expr);
    /// `insert(list, index, item)`: the list with `item` added before the item at the index.
    Insert "insert" (Expr, Expr, Expr);
    /// `repeat(item, n)`: a list of `n` copies.
    Repeat "repeat" (Expr, Expr);
    /// `iota(n)`: the list 0, 1, … n−1.
    Iota "iota" (Expr);
    /// `range(start, end)`: the list start, … end−1.
    Range "range" (Expr, Expr);
    /// Items in ascending order.
    Sorted "sorted" (Expr);
    /// Items without duplicates, in order of first occurrence.
    Unique "unique" (Expr);
    /// Sum of a list of numbers.
    Sum "sum" (Expr);
    /// Product of a list of numbers.
    Product "product" (Expr);
    /// Minimum of a list of numbers, or of two arguments; elementwise if one of the two is a list.
    Min "min" (Expr, Expr) optional 1;
    /// Maximum of a list of numbers, or of two arguments; elementwise if one of the two is a list.
    Max "max" (Expr, Expr) optional 1;
    /// Absolute value of a number.
    Abs "abs" (Expr);
    /// Square root of a number.
    Sqrt "sqrt" (Expr);
    /// Cosine of a number.
    Cos "cos" (Expr);
    /// Whether a size is dynamic, not a number.
    IsFree "is_free" (Expr);
    /// Whether two sizes are proved equal in every run; false if equality is undecided.
    IsSame "is_same" (Expr, Expr);
    /// Whether every item equals the given one.
    All "all" (Expr, Expr);
    /// `normalize_axes(list, rank)`: the axes, made non-negative; undefined if an axis is out of range.
    NormalizeAxes "normalize_axes" (Expr, Expr);
    /// `normalize_axis(axis, rank)`: like `normalize_axes`, for a single axis.
    NormalizeAxis "normalize_axis" (Expr, Expr);
    /// `compose(p, q)`: the permutation equivalent to Transpose by p, then by q.
    Compose "compose" (Expr, Expr);
    /// Inverse of a permutation.
    Inverse "inverse" (Expr);
    /// Whether a permutation is the identity.
    IsIdentity "is_identity" (Expr);
    /// Whether a list is a permutation of 0 … n−1.
    IsPermutation "is_permutation" (Expr);
    /// Number of bits per element of a type.
    ElemBits "elem_bits" (Expr);
    /// Whether a type is an integer type (bool is not).
    IsInteger "is_integer" (Expr);
    /// Whether a type is a floating-point type.
    IsFloat "is_float" (Expr);
    /// Whether a type is signed: a signed integer, or a float other than float8e8m0.
    IsSigned "is_signed" (Expr);
    /// `is_op(@op, names)`: whether an operator has one of the names, in any overload.
    /// The name `max` stands for `max`, `max.dim` and all other overloads; `max.dim` stands for itself only.
    IsOp "is_op" (Expr, Expr);
    /// `cast_fits(from, to)`: whether every value of the first type is representable in the second.
    CastFits "cast_fits" (Expr, Expr);
    /// `default(@a, item)`: the attribute, or the item if the attribute is absent.
    Default "default" (Expr, Expr);
    /// `if(condition, then, otherwise)`: one of two values.
    If "if" (Expr, Expr, Expr);
    /// Converts an integer to a float.
    ToFloat "to_float" (Expr);
    /// Converts a number without a fraction to an integer.
    ToInt "to_int" (Expr);
    /// `tensor(type, list)`: a 1-D tensor; a scalar for a number.
    Tensor "tensor" (Expr, Expr);
    /// `reshaped(tensor, dims)`: the tensor with other dimensions.
    Reshaped "reshaped" (Expr, Expr);
    /// `full(type, dims, number)`: a tensor with all elements equal.
    Full "full" (Expr, Expr, Expr);
    /// Canonical Einsum equation: no spaces, explicit result, letters renamed in order of first use.
    /// `equation("ij, jk")` is `"ab,bc->ac"`. With the ranks of the operands, each ellipsis is replaced by
    /// letters: `equation("...i,i", [3, 1])` is `"abc,c->ab"`.
    Equation "equation" (Expr, Expr) optional 1;
    /// Axes of a two-operand Einsum contraction, as seven lists.
    /// The lists are the batch, own and reduced axes of the first operand, then the same three lists for the
    /// second operand, then the permutation from the order (batch axes, own axes of the first operand, own
    /// axes of the second operand) to the axes of the result. An own axis occurs in only one operand.
    /// Undefined for an ellipsis, a letter repeated in one operand or in the result, and a reduced letter
    /// that only one operand has.
    Contraction "contraction" (Expr);
    /// Alignment of the operands of an Einsum with an explicit result, as lists: for each operand, the
    /// permutation that orders its axes, and the axes to insert; then the axes to sum.
    /// The axes of the result come first, in their order. Undefined for an ellipsis, and for a letter
    /// repeated in one operand or in the result.
    Alignment "alignment" (Expr);
}

impl Func {
    /// Finds a function by its name in a rule.
    pub fn by_name(name: &str) -> Option<Func> {
        Func::ALL.iter().copied().find(|func| func.name() == name)
    }

    /// Returns true if the function returns a bool.
    pub fn is_predicate(self) -> bool {
        let is_named_so = ["is_", "same_", "at_", "cast_"].iter().any(|start| self.name().starts_with(start));
        is_named_so || matches!(self, Func::All | Func::KeepsZeros)
    }

    /// Returns true if the result of the function can differ between equivalent values.
    /// A rule that asserts an equality must not call a function for which this returns true.
    pub fn asks_origin(self) -> bool {
        matches!(self, Func::IsStored | Func::NodeName | Func::ModulePath)
    }

    /// Returns the minimum and maximum number of arguments.
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
