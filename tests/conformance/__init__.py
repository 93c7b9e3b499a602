"""Compares onnx-lint and onnx-fix with ONNX Runtime, the onnx package and real models. See README.md."""
