"""The request path's threads: a connection that dies while it is used is replaced for the next request."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.db import OperationalError, connection

from apps.access.api import pool
from apps.answers.models import tiers
from tests.clients import hang_up


def backend() -> int:
    """Ask, through the statement of the request path, which server process serves this thread."""
    return int(tiers.prepared("SELECT pg_backend_pid()", [])[0][0])


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_dies_in_use_fails_one_request_and_no_more() -> None:
    ask = async_to_sync(pool.run)
    try:
        first = ask(backend)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [first])
        with pytest.raises(OperationalError):
            ask(backend)
        assert ask(backend) != first
    finally:
        hang_up()
