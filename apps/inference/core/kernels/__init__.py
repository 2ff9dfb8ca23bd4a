"""Native kernels: gather dirty positions, multiply, and write back what changed."""
