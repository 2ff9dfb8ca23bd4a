"""`manage.py bench edge`: sessions replayed against a real nginx, beside a simulator of the same edge."""

from config.edge.bench.running import PARTS, run

__all__ = ["PARTS", "run"]
