"""What the caches did: counted in Valkey, folded into rows, published to browsers."""
