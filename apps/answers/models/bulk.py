"""Writes of many golden answers, each one statement for a whole batch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import connection

# A JSON array of objects is one parameter however many rows there are.
RECORDS = """jsonb_to_recordset(%s::jsonb) AS r(id uuid, namespace_id uuid, question text, answer text, aliases text[],
    tags text[], attachments text[], valid_from timestamptz, valid_until timestamptz, author text)"""

INSERT = f"""
INSERT INTO answers_goldenanswer (namespace_id, question, answer, aliases, tags, attachments, valid_from, valid_until,
    author, approver, status, updated_at)
SELECT namespace_id, question, answer, COALESCE(aliases, '{{}}'), COALESCE(tags, '{{}}'), COALESCE(attachments, '{{}}'),
    valid_from, valid_until, author, '', 'draft', now()
FROM {RECORDS}
"""  # noqa: S608 - no value is in the text

UPDATE = f"""
UPDATE answers_goldenanswer g SET question = r.question, answer = r.answer, aliases = r.aliases, tags = r.tags,
    attachments = r.attachments, valid_from = r.valid_from, valid_until = r.valid_until, author = r.author,
    approver = '', status = 'draft', updated_at = now()
FROM {RECORDS} WHERE g.id = r.id
"""  # noqa: S608 - no value is in the text


def insert_drafts(rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert drafts: `namespace_id`, `question`, `answer`, `author`, and what else a golden answer says."""
    _execute(INSERT, rows)


def rewrite_as_drafts(rows: Iterable[Mapping[str, Any]]) -> None:
    """Write new texts and authors into golden answers named by `id`, which makes drafts of them."""
    _execute(UPDATE, rows)


def _execute(statement: str, rows: Iterable[Mapping[str, Any]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, [json.dumps(list(rows), default=_json)])


def _json(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
