"""What every API door shares: authentication, scopes, pages, problem details and idempotency.

The settings name these classes while Django REST framework loads, so this package imports none of its modules.
"""
