"""Read golden answers from CSV or JSON lines, one record at a time; a record that cannot be read is a fault."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from apps.access import services as access
from apps.access.core.cells import unguard
from apps.answers.services.filling import MAX_ANSWER
from apps.answers.services.transfer import cells

FIELDS = ("question", "answer", "namespace", "aliases", "tags", "valid_from", "valid_until")
NEEDED = ("question", "answer")
LISTS = ("aliases", "tags")
MOMENTS = ("valid_from", "valid_until")
LONGEST_LINE = 8 * MAX_ANSWER
csv.field_size_limit(LONGEST_LINE)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one field of one row, as a spreadsheet or an editor numbers it: the first row is 1."""

    row: int
    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Record:
    """The values of one row; fields that the file does not have are absent."""

    row: int
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Faulty:
    """A row that could not be read."""

    faults: list[Fault] = field(default_factory=list)


def read_csv(stream: BinaryIO) -> Iterator[Record | Faulty]:
    """Read CSV with a header (`,` or `;` between cells, UTF-8 with or without a byte order mark).

    Raises:
        Unparsable: it is not UTF-8.
    """
    text = _text(stream)
    try:
        lines = _first_line(text)
        reader = csv.reader(lines.all, delimiter=lines.delimiter, strict=True)
        header = [name.strip().lower() for name in next(reader, [])]
        if faults := list(_header_faults(header)):
            yield Faulty(faults)
            return
        yield from _csv_records(reader, header)
    except UnicodeDecodeError as problem:
        raise access.Unparsable(f"The file is not UTF-8: {problem.reason} at byte {problem.start}.") from problem
    finally:
        text.detach()


def read_jsonl(stream: BinaryIO) -> Iterator[Record | Faulty]:
    """Read one JSON object a line; empty lines are skipped.

    Raises:
        Unparsable: it is not UTF-8, or a line is longer than any golden answer could be.
    """
    text = _text(stream)
    row = 0
    try:
        while line := text.readline(LONGEST_LINE):
            row += 1
            if len(line) >= LONGEST_LINE:
                raise access.Unparsable(f"Line {row} is longer than {LONGEST_LINE} characters.")
            if line.strip():
                yield _json_record(row, line)
    except UnicodeDecodeError as problem:
        raise access.Unparsable(f"The file is not UTF-8: {problem.reason} at byte {problem.start}.") from problem
    finally:
        text.detach()


@dataclass(frozen=True, slots=True)
class Lines:
    """All lines of a CSV file and what stands between its cells."""

    all: Iterable[str]
    delimiter: str


def _text(stream: BinaryIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")


def _first_line(text: io.TextIOWrapper) -> Lines:
    """Look at the header line for the delimiter; spreadsheets of half of Europe write `;`."""
    first = text.readline(LONGEST_LINE)

    def lines() -> Iterator[str]:
        yield first
        yield from iter(lambda: text.readline(LONGEST_LINE), "")

    return Lines(lines(), ";" if ";" in first and "," not in first else ",")


def _header_faults(header: list[str]) -> Iterator[Fault]:
    for name in header:
        if name not in FIELDS:
            yield Fault(1, name[:60], f"There is no such field; a file has {', '.join(FIELDS)}.")
        elif header.count(name) > 1:
            yield Fault(1, name, "This field is there twice.")
    for name in NEEDED:
        if name not in header:
            yield Fault(1, name, "This field is missing in the header.")


def _csv_records(reader: Any, header: list[str]) -> Iterator[Record | Faulty]:
    row = 1
    while True:
        row += 1
        try:
            line = next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            yield Faulty([Fault(row, "", f"This row breaks the CSV format, so reading ended here: {problem}.")])
            return
        if line:
            yield _csv_record(row, header, line)


def _csv_record(row: int, header: list[str], line: list[str]) -> Record | Faulty:
    if len(line) != len(header):
        return Faulty([Fault(row, "", f"This row has {len(line)} cells, the header has {len(header)}.")])
    return _record(row, {name: _from_cell(name, cell) for name, cell in zip(header, line, strict=True)})


def _from_cell(name: str, cell: str) -> Any:
    """Give the value of a cell, or the ValueError that says why it has none."""
    cell = unguard(cell)
    try:
        return cells.split(cell) if name in LISTS else cells.moment(cell) if name in MOMENTS else cell
    except ValueError as problem:
        return problem


def _json_record(row: int, line: str) -> Record | Faulty:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return Faulty([Fault(row, "", "This line is not JSON.")])
    if not isinstance(values, dict):
        return Faulty([Fault(row, "", "This line is not a JSON object.")])
    faults = [Fault(row, name[:60], "There is no such field.") for name in values if name not in FIELDS]
    faults += [Fault(row, name, "This field is missing.") for name in NEEDED if name not in values]
    if faults:
        return Faulty(faults)
    return _record(row, {name: _from_json(name, value) for name, value in values.items()})


def _from_json(name: str, value: Any) -> Any:
    """Give the value of a JSON field, or the ValueError that says why it has none."""
    if name in LISTS:
        good = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return value if good else [] if value is None else ValueError("Must be a list of strings.")
    if name in MOMENTS and value is None:
        return None
    if not isinstance(value, str):
        return ValueError("Must be a string.")
    try:
        return cells.moment(value) if name in MOMENTS else value
    except ValueError as problem:
        return problem


def _record(row: int, values: dict[str, Any]) -> Record | Faulty:
    faults = [Fault(row, name, str(value)) for name, value in values.items() if isinstance(value, ValueError)]
    return Faulty(faults) if faults else Record(row, values)
