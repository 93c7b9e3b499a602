# The printed form of a traced network; names as given in input_names.
graph(%picture : Float(4, 3, 64, 64)
      %w_0 : Float(16, 3, 5, 5)
      %w_1 : Float(16)
      # ---- the rest is left out ----
      %w_9 : Float(10)) {
  # operator, attributes, then the inputs
  %12 : Float(4, 16, 60, 60) = onnx::Conv[dilations=[1, 1], group=1, kernel_shape=[5, 5], pads=[0, 0, 0, 0], strides=[1, 1]](%picture, %w_0, %w_1), scope: Net/Conv2d[stem]
  %13 : Float(4, 16, 60, 60) = onnx::Relu(%12), scope: Net/ReLU[act]
  # ---- the rest is left out ----
  %logits : Float(4, 10) = onnx::Gemm[alpha=1, beta=1, broadcast=1, transB=1](%21, %w_8, %w_9), scope: Net/Linear[head]
  return (%logits);
}
