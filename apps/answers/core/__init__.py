"""Decisions of the answers cache: plain Python, no Django."""
