"""The two-tier semantic cache for answers, after Krites."""
