"""Rows of the inference app."""
