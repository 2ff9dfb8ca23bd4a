"""Verbs of the segments app."""
