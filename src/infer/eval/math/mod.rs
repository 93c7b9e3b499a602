//! Arithmetic: elementwise operators, reductions, matrix products.

mod activation;
mod binary;
mod compare;
mod determinant;
mod einsum;
mod integer;
mod matmul;
mod reduce;
mod unary;

use super::Kernel::{self, One};

pub(super) use activation::{sigmoid, softplus};
pub(super) use integer::elem_attr;
pub(super) use matmul::{Factors, products};
pub(super) use reduce::{Groups, log_sum_exp, max_or_nan};

/// Returns the kernel of an arithmetic operator; `None` if this module has no kernel for `op`.
pub(super) fn find(op: &str) -> Option<Kernel> {
    Some(match op {
        "Abs" => One(unary::abs),
        "Neg" => One(unary::neg),
        "Sign" => One(unary::sign),
        "Sqrt" | "Exp" | "Log" | "Reciprocal" | "Floor" | "Ceil" | "Round" | "Erf" | "Sin" | "Cos"
        | "Tan" | "Asin" | "Acos" | "Atan" | "Sinh" | "Cosh" | "Tanh" | "Asinh" | "Acosh" | "Atanh" => {
            One(unary::float_function)
        }
        "IsNaN" => One(unary::is_nan),
        "IsInf" => One(unary::is_inf),
        "Clip" => One(unary::clip),
        "Relu" => One(activation::relu),
        "Elu" | "Selu" | "Celu" | "Gelu" | "Mish" | "Swish" | "HardSwish" | "Sigmoid" | "HardSigmoid"
        | "LeakyRelu" | "ThresholdedRelu" | "Softplus" | "Softsign" => One(activation::activation),
        "PRelu" => One(activation::prelu),
        "Shrink" => One(activation::shrink),
        "SwiGLU" => One(activation::swiglu),
        "Add" | "Sub" | "Mul" => One(binary::arithmetic),
        "Div" => One(binary::div),
        "Mod" => One(binary::modulo),
        "Pow" => One(binary::pow),
        "Max" | "Min" | "Sum" | "Mean" => One(binary::variadic),
        "Equal" | "Greater" | "Less" | "GreaterOrEqual" | "LessOrEqual" => One(compare::compare),
        "And" | "Or" | "Xor" => One(compare::logic),
        "Not" => One(compare::not),
        "BitwiseAnd" | "BitwiseOr" | "BitwiseXor" => One(integer::bitwise),
        "BitwiseNot" => One(integer::bitwise_not),
        "BitShift" => One(integer::shift),
        "BitCast" => One(integer::bit_cast),
        "ReduceSum" | "ReduceMean" | "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceL1" | "ReduceL2"
        | "ReduceLogSum" | "ReduceLogSumExp" | "ReduceSumSquare" => One(reduce::reduce),
        "ArgMax" | "ArgMin" => One(reduce::arg),
        "CumSum" | "CumProd" => One(reduce::cumulate),
        "MatMul" => One(matmul::matmul),
        "Gemm" => One(matmul::gemm),
        "Einsum" => One(einsum::einsum),
        "Det" => One(determinant::det),
        _ => return None,
    })
}
