"""Rows of the segments app."""
