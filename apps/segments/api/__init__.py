"""Doors of the segments API."""
