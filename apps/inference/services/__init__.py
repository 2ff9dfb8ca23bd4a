"""Verbs of the inference app."""
