"""The embedded stack: PostgreSQL, Valkey and the site's processes, all from installed packages, all under var/."""
