"""Carry golden answers in and out as CSV or JSON lines, whole or not at all."""

from apps.answers.services.transfer.exports import FORMATS, export
from apps.answers.services.transfer.imports import Report, import_rows
from apps.answers.services.transfer.records import Fault, Faulty, Record, read_csv, read_jsonl

__all__ = ["FORMATS", "Fault", "Faulty", "Record", "Report", "export", "import_rows", "read_csv", "read_jsonl"]
