"""The pure heart of the segment cache: prediction, value, plan, control and the simulator that measures them."""
