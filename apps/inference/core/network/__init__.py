"""A convolutional network read from ONNX: checked, simplified, lowered to layers."""
