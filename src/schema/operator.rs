//! Version-independent properties of the operators of ai.onnx.
//!
//! The generated schema table has the inputs, outputs and attributes of each version. Shape inference is in
//! `infer/ops`, and evaluation in `infer/eval`.

use self::Carry::{Exact, Own, Widens, Wraps};
use self::Moves::{All, No, Of};
use self::Operands::{Apart, Broadcast, Commute, CommuteUpToSigns, One};
use self::Work::{Control, Elementwise, Move, Product, Reduction, View};

/// Properties of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Kind of computation.
    pub work: Work,
    /// Inputs whose elements the operator moves unchanged.
    pub moves: Moves,
    /// Whether the result stays equal if integers or booleans are computed in a wider type.
    pub carry: Carry,
    /// Relation of the operands.
    pub operands: Operands,
}

/// Kind of computation, by which the cost model estimates the run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Moves no elements: changes or reads only a shape, passes a value on, or is a constant.
    View,
    /// Copies elements without arithmetic.
    Move,
    /// Computes each element at a small constant cost, mostly from one element of each operand.
    Elementwise,
    /// Computes each element from several elements.
    ///
    /// Examples are reduction, pooling, normalization, interpolation and search.
    Reduction,
    /// Multiplies and sums: matrix products, convolution, recurrence.
    Product,
    /// Runs subgraphs.
    Control,
}

/// Inputs whose elements an operator moves unchanged.
///
/// Each output element is an element of a moved input, or a fill value: zero, an attribute or another input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// No input is recorded: the operator computes new elements, or its moves are not tracked.
    No,
    /// The inputs at these positions.
    Of(&'static [usize]),
    /// All inputs.
    All,
}

/// Whether an integer or boolean operator has an equal result if it runs in a wider type.
///
/// The inputs are cast to the wider type, and the result is cast back. For floating-point types, this
/// property is ignored: the results of any operator are assumed to be equal up to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// The results are equal: the operator moves, selects or compares elements, or only changes signs.
    Exact,
    /// The results are equal in a wider integer type, because the cast back drops the upper bits.
    Wraps,
    /// The results are equal if the wider type is an integer type.
    Widens,
    /// The results may differ: the operator must run in its own type.
    Own,
}

/// Relation of the operands of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// Each operand has its own role.
    Apart,
    /// Each element is computed from one element of the only operand.
    One,
    /// All operands broadcast to one shape.
    Broadcast,
    /// All operands broadcast to one shape, and any two operands may be swapped.
    Commute,
    /// As `Commute`, but swapped operands can change the sign of a zero.
    CommuteUpToSigns,
}

impl Operator {
    /// Returns true if the operands broadcast to one shape.
    pub fn broadcasts(&self) -> bool {
        !matches!(self.operands, Apart | One)
    }

    /// Returns true if the operator is commutative; with `rounds`, the sign of a zero may change.
    ///
    /// In ONNX Runtime, `Max` and `Min` of two zeros are the one that comes first or last, depending on the kernel.
    pub fn commutes(&self, rounds: bool) -> bool {
        self.operands == Commute || rounds && self.operands == CommuteUpToSigns
    }

    /// Returns whether the elements of an input are moved; `None` for [`Moves::No`].
    pub fn moves(&self, input: usize) -> Option<bool> {
        match self.moves {
            No => None,
            Of(inputs) => Some(inputs.contains(&input)),
            All => Some(true),
        }
    }
}

/// Returns the properties of an operator of ai.onnx; `None` for other domains and for unknown names.
pub fn operator(domain: &str, name: &str) -> Option<Operator> {
    let rows = if domain.is_empty() { OPERATORS } else { &[] };
    let at = rows.binary_search_by(|row| row.0.cmp(name)).ok()?;
    let (_, work, moves, carry, operands) = rows[at];
    Some(Operator { work, moves, carry, operands })
}

/// All operators of ai.onnx, sorted by name.
#[rustfmt::skip]
const OPERATORS: &[(&str, Work, Moves, Carry, Operands)] = &[
    ("Abs", Elementwise, No, Exact, One),
    ("Acos", Elementwise, No, Own, One),
    ("Acosh", Elementwise, No, Own, One),
    ("Add", Elementwise, No, Wraps, Commute),
    ("AffineGrid", Reduction, No, Own, Apart),
    ("And", Elementwise, No, Own, Commute),
    ("ArgMax", Reduction, No, Exact, Apart),
    ("ArgMin", Reduction, No, Exact, Apart),
    ("Asin", Elementwise, No, Own, One),
    ("Asinh", Elementwise, No, Own, One),
    ("Atan", Elementwise, No, Own, One),
    ("Atanh", Elementwise, No, Own, One),
    ("Attention", Product, No, Own, Apart),
    ("AveragePool", Reduction, No, Own, Apart),
    ("BatchNormalization", Elementwise, No, Own, Apart),
    ("Bernoulli", Elementwise, No, Own, Apart),
    ("BitCast", Move, No, Own, Apart),
    ("BitShift", Elementwise, No, Own, Broadcast),
    ("BitwiseAnd", Elementwise, No, Own, Commute),
    ("BitwiseNot", Elementwise, No, Own, One),
    ("BitwiseOr", Elementwise, No, Own, Commute),
    ("BitwiseXor", Elementwise, No, Own, Commute),
    ("BlackmanWindow", Elementwise, No, Own, Apart),
    ("Cast", Move, No, Own, One),
    ("CastLike", Move, No, Own, Apart),
    ("CausalConvWithState", Product, No, Own, Apart),
    ("Ceil", Elementwise, No, Own, One),
    ("Celu", Elementwise, No, Own, One),
    ("CenterCropPad", Move, No, Exact, Apart),
    ("Clip", Elementwise, No, Exact, Apart),
    ("Col2Im", Reduction, No, Own, Apart),
    ("Compress", Move, Of(&[0]), Exact, Apart),
    ("Concat", Move, All, Exact, Apart),
    ("ConcatFromSequence", Move, No, Own, Apart),
    ("Constant", View, No, Own, Apart),
    ("ConstantOfShape", Move, No, Own, Apart),
    ("Conv", Product, No, Own, Apart),
    ("ConvInteger", Product, No, Own, Apart),
    ("ConvTranspose", Product, No, Own, Apart),
    ("Cos", Elementwise, No, Own, One),
    ("Cosh", Elementwise, No, Own, One),
    ("CumProd", Reduction, No, Own, Apart),
    ("CumSum", Reduction, No, Wraps, Apart),
    ("DFT", Product, No, Own, Apart),
    ("DeformConv", Product, No, Own, Apart),
    ("DepthToSpace", Move, Of(&[0]), Exact, Apart),
    ("DequantizeLinear", Elementwise, No, Own, Apart),
    ("Det", Reduction, No, Own, Apart),
    ("Div", Elementwise, No, Widens, Broadcast),
    ("Dropout", View, No, Own, Apart),
    ("DynamicQuantizeLinear", Elementwise, No, Own, Apart),
    ("Einsum", Product, No, Own, Apart),
    ("Elu", Elementwise, No, Own, One),
    ("Equal", Elementwise, No, Exact, Commute),
    ("Erf", Elementwise, No, Own, One),
    ("Exp", Elementwise, No, Own, One),
    ("Expand", Move, Of(&[0]), Exact, Apart),
    ("EyeLike", Move, No, Exact, Apart),
    ("Flatten", View, Of(&[0]), Exact, Apart),
    ("Floor", Elementwise, No, Own, One),
    ("GRU", Product, No, Own, Apart),
    ("Gather", Move, Of(&[0]), Exact, Apart),
    ("GatherElements", Move, Of(&[0]), Exact, Apart),
    ("GatherND", Move, Of(&[0]), Exact, Apart),
    ("Gelu", Elementwise, No, Own, One),
    ("Gemm", Product, No, Wraps, Apart),
    ("GlobalAveragePool", Reduction, No, Own, Apart),
    ("GlobalLpPool", Reduction, No, Own, Apart),
    ("GlobalMaxPool", Reduction, No, Exact, Apart),
    ("Greater", Elementwise, No, Exact, Broadcast),
    ("GreaterOrEqual", Elementwise, No, Exact, Broadcast),
    ("GridSample", Reduction, No, Own, Apart),
    ("GroupNormalization", Reduction, No, Own, Apart),
    ("HammingWindow", Elementwise, No, Own, Apart),
    ("HannWindow", Elementwise, No, Own, Apart),
    ("HardSigmoid", Elementwise, No, Own, One),
    ("HardSwish", Elementwise, No, Own, One),
    ("Hardmax", Reduction, No, Own, Apart),
    ("Identity", View, No, Exact, Apart),
    ("If", Control, No, Exact, Apart),
    ("ImageDecoder", Reduction, No, Own, Apart),
    ("InstanceNormalization", Reduction, No, Own, Apart),
    ("IsInf", Elementwise, No, Exact, One),
    ("IsNaN", Elementwise, No, Exact, One),
    ("LRN", Reduction, No, Own, Apart),
    ("LSTM", Product, No, Own, Apart),
    ("LayerNormalization", Reduction, No, Own, Apart),
    ("LeakyRelu", Elementwise, No, Own, One),
    ("Less", Elementwise, No, Exact, Broadcast),
    ("LessOrEqual", Elementwise, No, Exact, Broadcast),
    ("LinearAttention", Product, No, Own, Apart),
    ("Log", Elementwise, No, Own, One),
    ("LogSoftmax", Reduction, No, Own, Apart),
    ("Loop", Control, No, Own, Apart),
    ("LpNormalization", Reduction, No, Own, Apart),
    ("LpPool", Reduction, No, Own, Apart),
    ("MatMul", Product, No, Wraps, Apart),
    ("MatMulInteger", Product, No, Own, Apart),
    ("Max", Elementwise, No, Exact, CommuteUpToSigns),
    ("MaxPool", Reduction, No, Exact, Apart),
    ("MaxRoiPool", Reduction, No, Own, Apart),
    ("MaxUnpool", Reduction, No, Own, Apart),
    ("Mean", Elementwise, No, Own, Commute),
    ("MeanVarianceNormalization", Reduction, No, Own, Apart),
    ("MelWeightMatrix", Reduction, No, Own, Apart),
    ("Min", Elementwise, No, Exact, CommuteUpToSigns),
    ("Mish", Elementwise, No, Own, One),
    ("Mod", Elementwise, No, Widens, Broadcast),
    ("Mul", Elementwise, No, Wraps, Commute),
    ("Multinomial", Reduction, No, Own, Apart),
    ("Neg", Elementwise, No, Wraps, One),
    ("NegativeLogLikelihoodLoss", Reduction, No, Own, Apart),
    ("NonMaxSuppression", Reduction, No, Own, Apart),
    ("NonZero", Reduction, No, Exact, Apart),
    ("Not", Elementwise, No, Own, One),
    ("OneHot", Move, No, Exact, Apart),
    ("Optional", View, No, Own, Apart),
    ("OptionalGetElement", View, No, Own, Apart),
    ("OptionalHasElement", View, No, Own, Apart),
    ("Or", Elementwise, No, Own, Commute),
    ("PRelu", Elementwise, No, Own, Broadcast),
    ("Pad", Move, Of(&[0, 2]), Exact, Apart),
    ("Pow", Elementwise, No, Wraps, Broadcast),
    ("QLinearConv", Product, No, Own, Apart),
    ("QLinearMatMul", Product, No, Own, Apart),
    ("QuantizeLinear", Elementwise, No, Own, Apart),
    ("RMSNormalization", Reduction, No, Own, Apart),
    ("RNN", Product, No, Own, Apart),
    ("RandomNormal", Elementwise, No, Own, Apart),
    ("RandomNormalLike", Elementwise, No, Own, Apart),
    ("RandomUniform", Elementwise, No, Own, Apart),
    ("RandomUniformLike", Elementwise, No, Own, Apart),
    ("Range", Move, No, Own, Apart),
    ("Reciprocal", Elementwise, No, Own, One),
    ("ReduceL1", Reduction, No, Own, Apart),
    ("ReduceL2", Reduction, No, Own, Apart),
    ("ReduceLogSum", Reduction, No, Own, Apart),
    ("ReduceLogSumExp", Reduction, No, Own, Apart),
    ("ReduceMax", Reduction, No, Exact, Apart),
    ("ReduceMean", Reduction, No, Own, Apart),
    ("ReduceMin", Reduction, No, Exact, Apart),
    ("ReduceProd", Reduction, No, Wraps, Apart),
    ("ReduceSum", Reduction, No, Wraps, Apart),
    ("ReduceSumSquare", Reduction, No, Wraps, Apart),
    ("RegexFullMatch", Elementwise, No, Own, One),
    ("Relu", Elementwise, No, Exact, One),
    ("Reshape", View, Of(&[0]), Exact, Apart),
    ("Resize", Reduction, No, Own, Apart),
    ("ReverseSequence", Move, Of(&[0]), Exact, Apart),
    ("RoiAlign", Reduction, No, Own, Apart),
    ("RotaryEmbedding", Elementwise, No, Own, Apart),
    ("Round", Elementwise, No, Own, One),
    ("STFT", Product, No, Own, Apart),
    ("Scan", Control, No, Own, Apart),
    ("Scatter", Move, Of(&[0, 2]), Exact, Apart),
    ("ScatterElements", Move, Of(&[0, 2]), Exact, Apart),
    ("ScatterND", Move, Of(&[0, 2]), Exact, Apart),
    ("Selu", Elementwise, No, Own, One),
    ("SequenceAt", Move, No, Own, Apart),
    ("SequenceConstruct", Move, No, Own, Apart),
    ("SequenceEmpty", Move, No, Own, Apart),
    ("SequenceErase", Move, No, Own, Apart),
    ("SequenceInsert", Move, No, Own, Apart),
    ("SequenceLength", View, No, Own, Apart),
    ("SequenceMap", Control, No, Own, Apart),
    ("Shape", View, No, Exact, Apart),
    ("Shrink", Elementwise, No, Own, One),
    ("Sigmoid", Elementwise, No, Own, One),
    ("Sign", Elementwise, No, Exact, One),
    ("SimplifiedLayerNormalization", Reduction, No, Own, Apart),
    ("Sin", Elementwise, No, Own, One),
    ("Sinh", Elementwise, No, Own, One),
    ("Size", View, No, Exact, Apart),
    ("Slice", Move, Of(&[0]), Exact, Apart),
    ("Softmax", Reduction, No, Own, Apart),
    ("SoftmaxCrossEntropyLoss", Reduction, No, Own, Apart),
    ("Softplus", Elementwise, No, Own, One),
    ("Softsign", Elementwise, No, Own, One),
    ("SpaceToDepth", Move, Of(&[0]), Exact, Apart),
    ("Split", Move, Of(&[0]), Exact, Apart),
    ("SplitToSequence", Move, No, Own, Apart),
    ("Sqrt", Elementwise, No, Own, One),
    ("Squeeze", View, Of(&[0]), Exact, Apart),
    ("StringConcat", Elementwise, No, Own, Broadcast),
    ("StringNormalizer", Elementwise, No, Own, Apart),
    ("StringSplit", Elementwise, No, Own, Apart),
    ("Sub", Elementwise, No, Wraps, Broadcast),
    ("Sum", Elementwise, No, Wraps, Commute),
    ("SwiGLU", Elementwise, No, Own, Apart),
    ("Swish", Elementwise, No, Own, One),
    ("Tan", Elementwise, No, Own, One),
    ("Tanh", Elementwise, No, Own, One),
    ("TensorScatter", Move, No, Exact, Apart),
    ("TfIdfVectorizer", Reduction, No, Own, Apart),
    ("ThresholdedRelu", Elementwise, No, Own, One),
    ("Tile", Move, Of(&[0]), Exact, Apart),
    ("TopK", Reduction, No, Exact, Apart),
    ("Transpose", Move, Of(&[0]), Exact, Apart),
    ("Trilu", Move, Of(&[0]), Exact, Apart),
    ("Unique", Reduction, No, Exact, Apart),
    ("Unsqueeze", View, Of(&[0]), Exact, Apart),
    ("Upsample", Reduction, No, Exact, Apart),
    ("Where", Move, Of(&[1, 2]), Exact, Broadcast),
    ("Xor", Elementwise, No, Own, Commute),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    #[test]
    fn every_operator_has_a_row() {
        let recorded: Vec<&str> = OPERATORS.iter().map(|row| row.0).collect();
        assert!(recorded.is_sorted(), "OPERATORS is not sorted by name");
        let ops: Vec<&str> = schema::ops("").collect();
        let missing: Vec<_> = ops.iter().filter(|op| !recorded.contains(op)).collect();
        let unknown: Vec<_> = recorded.iter().filter(|op| !ops.contains(op)).collect();
        assert!(missing.is_empty(), "OPERATORS has no row for {missing:?}");
        assert!(unknown.is_empty(), "no schema has the operators {unknown:?}");
        assert_eq!(recorded.len(), ops.len(), "OPERATORS has two rows for an operator");
    }

    /// Elementwise operators of one input that are no function of one element.
    const OTHERS: [&str; 9] = [
        "Bernoulli",
        "BlackmanWindow",
        "DynamicQuantizeLinear",
        "HammingWindow",
        "HannWindow",
        "RandomNormalLike",
        "RandomUniformLike",
        "StringNormalizer",
        "StringSplit",
    ];

    #[test]
    fn elementwise_operators_of_one_input_are_functions_of_one_element() {
        let newest = u16::MAX;
        for &(name, work, _, _, operands) in OPERATORS {
            let schema = schema::lookup("", name, newest).expect("a schema");
            let is_one = schema.input(0).is_some() && schema.input(1).is_none();
            if work == Elementwise && is_one && operands != One {
                assert!(OTHERS.contains(&name), "{name} needs the operands `One`");
            }
            if operands == One {
                assert!(is_one && schema.output(1).is_none() && !OTHERS.contains(&name), "{name}");
            }
        }
    }

    #[test]
    fn operators_that_move_elements_are_exact() {
        for (name, work, moves, carry, _) in OPERATORS {
            assert!(*moves == No || (*work != Elementwise && *carry == Exact), "{name}");
        }
    }
}
