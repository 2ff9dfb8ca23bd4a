"""The agent beside nginx: it reports what the edge holds and serves, and carries out plans; viewers never wait for it."""
