"""Who: workspaces, memberships, API keys, scopes, rate limits and the audit log."""
