"""The agent beside nginx: it reports what the edge holds and serves, and carries out plans; no viewer waits for it."""
