"""The console's pages of the answers cache: the curators' and the operators' desk."""

from apps.answers.admin import entries, golden, home, judging, policies, queries, studies

__all__ = ["entries", "golden", "home", "judging", "policies", "queries", "studies"]
