"""The cache in memory, with the product's own decision: for replays of real traffic and for the policy benchmark."""
