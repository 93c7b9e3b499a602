//! Fused operators that are interpreted as TorchScript code.

use std::sync::LazyLock;

use crate::read::jit::ast::{File, Function};
use crate::read::jit::parse;

/// Definitions of fused operators by plain ones, with the parameters of PyTorch.
const CODE: &str = r#"
def _native_multi_head_attention(query: Tensor, key: Tensor, value: Tensor, embed_dim: int, num_head: int,
    qkv_weight: Tensor, qkv_bias: Tensor, proj_weight: Tensor, proj_bias: Tensor, mask: Optional[Tensor]=None,
    need_weights: bool=True, average_attn_weights: bool=True, mask_type: Optional[int]=None):
  if torch.__isnot__(mask, None):
    ops.prim.RaiseException("a fused attention layer has a mask")
  else:
    pass
  wq, wk, wv, = torch.chunk(qkv_weight, 3)
  bq, bk, bv, = torch.chunk(qkv_bias, 3)
  size = torch.floordiv(embed_dim, num_head)
  batch = torch.size(query, 0)
  q = torch.transpose(torch.view(torch.linear(query, wq, bq), [batch, -1, num_head, size]), 1, 2)
  k = torch.transpose(torch.view(torch.linear(key, wk, bk), [batch, -1, num_head, size]), 1, 2)
  v = torch.transpose(torch.view(torch.linear(value, wv, bv), [batch, -1, num_head, size]), 1, 2)
  scaled = torch.mul(q, torch.pow(size, -0.5))
  weights = torch.softmax(torch.matmul(scaled, torch.transpose(k, -2, -1)), -1)
  joined = torch.reshape(torch.transpose(torch.matmul(weights, v), 1, 2), [batch, -1, embed_dim])
  result = torch.linear(joined, proj_weight, proj_bias)
  if need_weights:
    if average_attn_weights:
      shown = torch.mean(weights, [1])
    else:
      shown = weights
  else:
    shown = None
  return (result, shown)
def _transformer_encoder_layer_fwd(src: Tensor, embed_dim: int, num_heads: int, qkv_weight: Tensor,
    qkv_bias: Tensor, proj_weight: Tensor, proj_bias: Tensor, use_gelu: bool, norm_first: bool, eps: float,
    norm_weight_1: Tensor, norm_bias_1: Tensor, norm_weight_2: Tensor, norm_bias_2: Tensor,
    ffn_weight_1: Tensor, ffn_bias_1: Tensor, ffn_weight_2: Tensor, ffn_bias_2: Tensor,
    mask: Optional[Tensor]=None, mask_type: Optional[int]=None):
  if norm_first:
    x = torch.layer_norm(src, [embed_dim], norm_weight_1, norm_bias_1, eps)
  else:
    x = src
  attended, _0, = torch._native_multi_head_attention(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, False)
  y = torch.add(src, attended)
  if norm_first:
    z = torch.layer_norm(y, [embed_dim], norm_weight_2, norm_bias_2, eps)
  else:
    y = torch.layer_norm(y, [embed_dim], norm_weight_1, norm_bias_1, eps)
    z = y
  inner = torch.linear(z, ffn_weight_1, ffn_bias_1)
  if use_gelu:
    active = torch.gelu(inner)
  else:
    active = torch.relu(inner)
  w = torch.add(y, torch.linear(active, ffn_weight_2, ffn_bias_2))
  if norm_first:
    pass
  else:
    w = torch.layer_norm(w, [embed_dim], norm_weight_2, norm_bias_2, eps)
  return w
"#;

static DEFINITIONS: LazyLock<File> = LazyLock::new(|| parse::file("", CODE).unwrap_or_default());

/// Returns the definition of a fused operator; `None` for any other operator.
pub fn function(name: &str) -> Option<(&'static File, &'static Function)> {
    Some((&*DEFINITIONS, DEFINITIONS.functions.get(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_valid() {
        assert_eq!(parse::file("", CODE).map(|file| file.functions.len()).map_err(|(_, why)| why), Ok(2));
    }
}
