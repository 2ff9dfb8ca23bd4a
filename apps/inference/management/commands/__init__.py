"""Management commands of the inference cache."""
