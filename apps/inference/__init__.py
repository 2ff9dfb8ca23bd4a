"""CNN inference on video that computes only what moved, after DeepCache."""
