"""Holds onnx-lint and onnx-fix against ONNX Runtime, the onnx package and real models; README.md tells how."""
