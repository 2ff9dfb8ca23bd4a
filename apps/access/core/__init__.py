"""Values and rules of access: plain Python, no Django."""
