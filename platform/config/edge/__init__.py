"""The edge of this machine: a real nginx with the shipped configuration, and the agent beside it."""
