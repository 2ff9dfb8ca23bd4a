"""Prediction, value and plan: plain Python, numpy and torch, no Django."""
