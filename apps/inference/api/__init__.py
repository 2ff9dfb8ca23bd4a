"""Doors of the inference API."""
