//! Automatic mixed precision: operators in regions of `torch.autocast`.
//!
//! The region does not record its casts. They follow from PyTorch's lists of operators, and from the dtype of
//! each result, which the program records.

use super::builder::Builder;
use super::names::Names;
use super::part::{Part, part_of};
use crate::graph::{ElemType, ValueId};
use crate::torch::{self, Argument, Node};

/// Operators that PyTorch runs in the dtype of the region, on at least one kind of device.
static LOWER_PRECISION: Names = Names::new("
    _convolution _scaled_dot_product_flash_attention _thnn_fused_gru_cell _thnn_fused_lstm_cell addbmm addmm addmv addr
    baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
    convolution einsum gru_cell linalg_multi_dot linalg_vecdot linear lstm_cell matmul mkldnn_rnn_layer mm mv prelu
    rnn_relu_cell rnn_tanh_cell scaled_dot_product_attention");

/// Operators that call others, of which PyTorch runs some in the dtype of the region.
static MIXED: Names = Names::new("
    _euclidean_dist _native_multi_head_attention _transformer_encoder_layer_fwd _trilinear bilinear einsum gru gru_cell
    linalg_lstsq linalg_matrix_exp lstm lstm_cell matrix_exp rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell");

/// End of the reasons why an operator of a region cannot be converted.
const IN_REGION: &str = "in a region of `torch.autocast`";

/// Returns the advice for a refused operator of a region, if `why` is the reason for one.
pub fn advice(why: &str) -> Option<&'static str> {
    why.ends_with(IN_REGION).then_some(
        "export without autocast, and convert the model with `onnx-fix --to float16`, or call `model.bfloat16()` \
         before exporting",
    )
}

fn refused(why: &str) -> String {
    format!("{why} {IN_REGION}")
}

impl Builder<'_> {
    /// Adds the nodes that compute a trace node.
    ///
    /// In a region of `torch.autocast`, the operands are cast.
    pub fn make(&mut self, node: &Node) -> Result<(), String> {
        let widened = self.widened(node);
        let is_widened = !widened.is_empty();
        let casts = if is_widened { widened } else { self.autocasts(node)? };
        let mut replaced: Vec<(torch::ValueId, ValueId)> = Vec::new();
        for (of, elem) in casts {
            let of = self.writes.of(of);
            if replaced.iter().any(|(other, _)| *other == of) {
                continue;
            }
            let value = self.value_of(of)?;
            let made = self.cast(value, elem);
            let rank = self.known(value).1;
            self.types.insert(made, (Some(elem), rank));
            self.define(of, Part::Real, made);
            replaced.push((of, value));
        }
        self.computes_in_float = is_widened;
        let made = self.make_plain(node);
        self.computes_in_float = false;
        for (of, value) in replaced {
            self.define(of, Part::Real, value);
        }
        if is_widened && made.is_ok() {
            self.narrow_results(node);
        }
        made
    }

    /// Returns the operands that PyTorch casts, with their dtypes.
    fn autocasts(&self, node: &Node) -> Result<Vec<(torch::ValueId, ElemType)>, String> {
        let lower = self.region_dtypes(node);
        let Some(op) = node.op.aten().filter(|_| !lower.is_empty()) else { return Ok(Vec::new()) };
        let elem = |value: torch::ValueId| self.trace.value(value).ty.elem();
        let is_tensor = |value: &torch::ValueId| self.trace.value(*value).ty.tensor().is_some();
        let read: Vec<_> = self.trace.values_read(node).into_iter().filter(is_tensor).collect();
        let made = || node.outputs.iter().copied().filter(is_tensor);
        if read.iter().copied().chain(made()).any(|value| elem(value).is_none()) {
            return Err(refused("a dtype is not recorded"));
        }
        let Some(result) = made().filter_map(elem).map(part_of).find(|elem| elem.is_float()) else {
            return Ok(Vec::new());
        };
        let floats = || read.iter().filter_map(|&value| Some((value, elem(value)?)));
        let floats = || floats().filter(|(_, elem)| elem.is_float() && *elem != ElemType::Double);
        let others = |wanted| floats().filter(move |(_, elem)| *elem != wanted);
        let with_result = |casts: &mut dyn Iterator<Item = (torch::ValueId, ElemType)>| {
            Ok(casts.map(|(value, _)| (value, result)).collect())
        };
        let is_lower = lower.contains(&result);
        let is_sure = op != "einsum" || read.len() <= 2;
        if LOWER_PRECISION.contains(op) && is_lower && is_sure {
            return with_result(&mut others(result));
        }
        // A product of elements, or an operator of one operand, calls no other operator.
        let is_simple = op == "einsum" && is_sure;
        if MIXED.contains(op) && !is_simple && floats().any(|(_, elem)| !lower.contains(&elem)) {
            return Err(refused("it computes in several dtypes"));
        }
        if matches!(result, ElemType::Float | ElemType::Double) {
            let is_bitcast = op == "view" && &*node.op.overload == "dtype";
            return with_result(&mut others(result).filter(|(_, elem)| elem.is_half() && !is_bitcast));
        }
        let has_dtype = node.inputs.iter().any(|input| matches!(input.argument, Argument::Elem(_)));
        let keeps_dtype = floats().next().is_none() || floats().any(|(_, elem)| elem == result);
        match is_lower && !has_dtype && !keeps_dtype {
            true => Err(refused(&format!("it returns {result} for operands of other dtypes"))),
            false => Ok(Vec::new()),
        }
    }

    /// Returns the dtypes of the enabled regions of `torch.autocast` around a node: one for each device.
    fn region_dtypes(&self, node: &Node) -> Vec<ElemType> {
        let (mut dtypes, mut devices, mut block) = (Vec::new(), Vec::new(), node.block);
        while let Some(owner) = self.trace.block(block).owner {
            let owner = self.trace.node(owner);
            block = owner.block;
            let mut given = owner.inputs.iter().map(|input| self.trace.see(&input.argument));
            if &*owner.op.name != "wrap_with_autocast" {
                continue;
            }
            let (device, dtype, enabled) = (given.next(), given.next(), given.next());
            // The innermost region of a device overrides the outer ones.
            if devices.contains(&device) {
                continue;
            }
            devices.push(device);
            match (enabled, dtype) {
                (Some(Argument::Bool(false)), _) => {}
                (_, Some(Argument::Elem(elem))) => dtypes.push(*elem),
                _ => dtypes.extend([ElemType::Float16, ElemType::Bfloat16]),
            }
        }
        dtypes
    }
}
