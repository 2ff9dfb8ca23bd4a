"""The door of prediction: train one predictor."""
