"""The door of inference: run one job over a video."""
