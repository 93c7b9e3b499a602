//! The family of batching rules of each operator.

use super::super::cx::Cx;
use super::super::obstacle::Result;
use super::{control, gather, join, matmul, reduce, reshape, resize, scatter, sequence, shape, view};
use crate::graph::NodeId;

/// Batching rule of an operator.
pub type Rule = fn(&mut Cx, NodeId) -> Result<()>;

/// Kind of an operator, by its effect on the sample axis.
#[derive(Clone, Copy)]
pub enum Family {
    /// An output element depends only on the element at the same position of the first input,
    /// and on shared inputs.
    Unary,
    /// The operands broadcast to one shape.
    Broadcast,
    /// The operator has a batch axis in each input of `inputs`, and in each output.
    /// Inputs that `inputs` does not list must be shared.
    Lead {
        /// Position and batch axis of each input that has a batch axis.
        inputs: &'static [(usize, usize)],
        /// Batch axis of each output; the last one applies to all further outputs.
        outputs: &'static [usize],
    },
    /// The operator has its own rule.
    Own(Rule),
    /// The samples cannot be computed independently. Contains the reason.
    Mixes(&'static str),
}

/// Operators with batch axis 0 in the first input and in every output.
const FIRST: Family = Family::Lead { inputs: &[(0, 0)], outputs: &[0] };
/// Operators with batch axis 0 in the first two inputs and in every output.
const FIRST_TWO: Family = Family::Lead { inputs: &[(0, 0), (1, 0)], outputs: &[0] };

/// Returns the family of an operator; `None` if the operator has no batching rule.
pub fn family(domain: &str, op: &str) -> Option<Family> {
    match domain {
        "" => of_onnx(op),
        "com.microsoft" => of_runtime(op),
        "ai.onnx.ml" => of_ml(op),
        _ => None,
    }
}

fn of_onnx(op: &str) -> Option<Family> {
    use Family::{Broadcast, Lead, Mixes, Own, Unary};
    Some(match op {
        "Abs" | "Acos" | "Acosh" | "Asin" | "Asinh" | "Atan" | "Atanh" | "BitwiseNot" | "Cast"
        | "CastLike" | "Ceil" | "Celu" | "Clip" | "Cos" | "Cosh" | "Dropout" | "Elu" | "Erf" | "Exp"
        | "Floor" | "Gelu" | "HardSigmoid" | "HardSwish" | "Identity" | "IsInf" | "IsNaN" | "LeakyRelu"
        | "Log" | "Mish" | "Neg" | "Not" | "Reciprocal" | "Relu" | "Round" | "Selu" | "Shrink"
        | "Sigmoid" | "Sign" | "Sin" | "Sinh" | "Softplus" | "Softsign" | "Sqrt" | "Swish" | "Tan"
        | "Tanh" | "ThresholdedRelu" | "RandomNormalLike" | "RandomUniformLike" | "Bernoulli" => Unary,
        "Add" | "And" | "BitShift" | "BitwiseAnd" | "BitwiseOr" | "BitwiseXor" | "Div" | "Equal"
        | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" | "Max" | "Mean" | "Min" | "Mod" | "Mul"
        | "Or" | "PRelu" | "Pow" | "Sub" | "Sum" | "Where" | "Xor" => Broadcast,
        "AveragePool"
        | "Conv"
        | "ConvInteger"
        | "ConvTranspose"
        | "DepthToSpace"
        | "GlobalAveragePool"
        | "GlobalLpPool"
        | "GlobalMaxPool"
        | "GroupNormalization"
        | "InstanceNormalization"
        | "LRN"
        | "LpPool"
        | "QLinearConv"
        | "SpaceToDepth"
        | "Col2Im" => FIRST,
        "MaxPool" => Own(shape::max_pool),
        "BatchNormalization" => Own(shape::batch_normalization),
        "GridSample" => FIRST_TWO,
        "DeformConv" => Lead { inputs: &[(0, 0), (2, 0), (4, 0)], outputs: &[0] },
        "LSTM" | "GRU" | "RNN" => Own(shape::recurrent),
        "Attention" => Own(shape::attention),
        "ReduceL1" | "ReduceL2" | "ReduceLogSum" | "ReduceLogSumExp" | "ReduceMax" | "ReduceMean"
        | "ReduceMin" | "ReduceProd" | "ReduceSum" | "ReduceSumSquare" => Own(reduce::reduce),
        "ArgMax" | "ArgMin" => Own(reduce::arg),
        "Softmax" | "LogSoftmax" | "Hardmax" => Own(reduce::softmax),
        "LayerNormalization" | "RMSNormalization" => Own(reduce::layer_norm),
        "LpNormalization" => Own(reduce::lp_norm),
        "MeanVarianceNormalization" => Own(reduce::mean_variance),
        "CumSum" | "CumProd" => Own(reduce::cumulative),
        "TopK" => Own(reduce::top_k),
        "QuantizeLinear" | "DequantizeLinear" => Own(reduce::quantize),
        "MatMul" => Own(matmul::matmul),
        "MatMulInteger" => Own(matmul::matmul),
        "QLinearMatMul" => Own(matmul::quantized),
        "Gemm" => Own(matmul::gemm),
        "Einsum" => Own(matmul::einsum),
        "Reshape" => Own(reshape::reshape),
        "Flatten" => Own(reshape::flatten),
        "Squeeze" => Own(view::squeeze),
        "Unsqueeze" => Own(view::unsqueeze),
        "Transpose" => Own(view::transpose),
        "Expand" => Own(view::expand),
        "Tile" => Own(view::tile),
        "Shape" => Own(shape::shape),
        "Size" => Own(shape::size),
        "Trilu" => Own(shape::trilu),
        "ConstantOfShape" => Mixes("the shape of its result differs between samples"),
        "Concat" => Own(join::concat),
        "Split" => Own(join::split),
        "Slice" => Own(join::slice),
        "Pad" => Own(join::pad),
        "Gather" => Own(gather::gather),
        "GatherElements" => Own(gather::gather_elements),
        "GatherND" => Own(gather::gather_nd),
        "OneHot" => Own(gather::one_hot),
        "ScatterElements" | "Scatter" => Own(scatter::scatter_elements),
        "ScatterND" => Own(scatter::scatter_nd),
        "Resize" | "Upsample" => Own(resize::resize),
        "AffineGrid" => Own(resize::affine_grid),
        "SequenceConstruct" => Own(sequence::construct),
        "SequenceAt" | "SequenceErase" => Own(sequence::at),
        "SequenceLength" => Own(sequence::length),
        "SequenceInsert" => Own(sequence::insert),
        "SplitToSequence" => Own(sequence::split),
        "ConcatFromSequence" => Own(sequence::concat),
        "If" => Own(control::branch),
        "Loop" => Own(control::loops),
        "Scan" => Own(control::scan),
        "DynamicQuantizeLinear" => Mixes("it computes one scale over the elements of all samples"),
        "NonZero" | "Unique" | "Compress" | "StringSplit" => {
            Mixes("the size of its result depends on elements, which differ between samples")
        }
        "NonMaxSuppression" => {
            Mixes("the number of selected boxes depends on elements, which differ between samples")
        }
        "Range" => Mixes("the size of its result depends on elements, which differ between samples"),
        "RoiAlign" | "MaxRoiPool" => Mixes("its boxes refer to images of the batch by index"),
        _ => return None,
    })
}

fn of_runtime(op: &str) -> Option<Family> {
    use Family::{Lead, Own, Unary};
    Some(match op {
        "BiasGelu" | "FastGelu" | "Gelu" | "QuickGelu" | "QLinearSigmoid" | "QLinearLeakyRelu" => Unary,
        "DequantizeLinear" | "QuantizeLinear" => Own(reduce::quantize),
        "FusedConv" | "NhwcConv" | "QLinearAveragePool" | "QLinearGlobalAveragePool" | "GroupNorm" => FIRST,
        "SkipLayerNormalization" | "SkipSimplifiedLayerNormalization" => FIRST_TWO,
        "MultiHeadAttention" => {
            Lead { inputs: &[(0, 0), (1, 0), (2, 0), (4, 0), (6, 0), (7, 0)], outputs: &[0] }
        }
        _ => return None,
    })
}

fn of_ml(op: &str) -> Option<Family> {
    Some(match op {
        "Binarizer" | "LabelEncoder" => Family::Unary,
        "Imputer"
        | "LinearClassifier"
        | "LinearRegressor"
        | "Normalizer"
        | "SVMClassifier"
        | "SVMRegressor"
        | "Scaler"
        | "TreeEnsemble"
        | "TreeEnsembleClassifier"
        | "TreeEnsembleRegressor" => Family::Own(shape::rows),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::family;
    use crate::schema;

    /// Operators without a batching rule; `--dynamic` rejects models that use them with samples.
    #[rustfmt::skip]
    const WITHOUT: [&str; 41] = [
        "ArrayFeatureExtractor", "BitCast", "BlackmanWindow", "CastMap", "CategoryMapper", "CausalConvWithState",
        "CenterCropPad", "Constant", "DFT", "Det", "DictVectorizer", "EyeLike", "FeatureVectorizer", "HammingWindow",
        "HannWindow", "ImageDecoder", "LinearAttention", "MaxUnpool", "MelWeightMatrix", "Multinomial",
        "NegativeLogLikelihoodLoss", "OneHotEncoder", "Optional", "OptionalGetElement", "OptionalHasElement",
        "RandomNormal", "RandomUniform", "RegexFullMatch", "ReverseSequence", "RotaryEmbedding", "STFT",
        "SequenceEmpty", "SequenceMap", "SimplifiedLayerNormalization", "SoftmaxCrossEntropyLoss", "StringConcat",
        "StringNormalizer", "SwiGLU", "TensorScatter", "TfIdfVectorizer", "ZipMap",
    ];

    #[test]
    fn every_operator_has_a_batching_rule_except_those_listed() {
        let mut faults = Vec::new();
        for domain in ["", "ai.onnx.ml"] {
            for op in schema::ops(domain) {
                match (family(domain, op).is_some(), WITHOUT.contains(&op)) {
                    (false, false) => {
                        faults.push(format!("{op} has no batching rule, and is not in WITHOUT"))
                    }
                    (true, true) => faults.push(format!("{op} has a batching rule, but is in WITHOUT")),
                    _ => {}
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
