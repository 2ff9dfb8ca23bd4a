"""Import and export: whole or not at all, lossless, harmless in spreadsheets."""

import io
import json
import tracemalloc
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.access.core.cells import guard, unguard
from apps.access.models import AuditEvent
from apps.answers import services
from apps.answers.models import GoldenAnswer
from apps.answers.services import golden, transfer
from apps.answers.services.transfer import cells
from tests import factories

HEADER = "question,answer,namespace,aliases,tags,valid_from,valid_until\r\n"


@pytest.fixture
def owner(db: None) -> Caller:
    return factories.key()[0]


def bring(caller: Caller, text: str | bytes, **how: bool) -> transfer.Report:
    data = text if isinstance(text, bytes) else text.encode()
    return transfer.import_rows(caller, transfer.read_csv(io.BytesIO(data)), **how)


def bring_lines(caller: Caller, text: str, **how: bool) -> transfer.Report:
    return transfer.import_rows(caller, transfer.read_jsonl(io.BytesIO(text.encode("utf-8", "surrogatepass"))), **how)


def counts(report: transfer.Report) -> tuple[int, int, int]:
    return report.created, report.updated, report.unchanged


def faults(report: transfer.Report) -> list[tuple[int, str]]:
    return [(fault.row, fault.field) for fault in report.faults]


def test_rows_become_drafts_and_the_same_file_again_changes_nothing(owner: Caller) -> None:
    text = HEADER + "How?,So.,default,Why?|What?,a|b,2030-01-01,2031-01-01T12:00:00+02:00\r\nWho?,We.,,,,,\r\n"
    assert counts(bring(owner, text)) == (2, 0, 0)
    row = GoldenAnswer.objects.get(question="How?")
    assert (row.status, row.aliases, row.tags, row.author) == ("draft", ["Why?", "What?"], ["a", "b"], owner.name)
    assert (row.valid_from, row.valid_until) == (
        datetime(2030, 1, 1, tzinfo=UTC), datetime(2031, 1, 1, 10, tzinfo=UTC),
    )  # fmt: skip
    assert counts(bring(owner, text)) == (0, 0, 2)
    assert counts(bring(owner, "question,answer\r\nHOW?,So.\r\nWho?,Us.\r\n")) == (0, 2, 0)
    row.refresh_from_db()
    assert (row.question, row.tags) == ("HOW?", ["a", "b"]), "fields that the file does not have stay"
    events = AuditEvent.objects.filter(verb="imported into").order_by("created_at")
    assert [event.detail.get("created") for event in events] == [2, None, None]


def test_a_dry_run_tells_everything_and_writes_nothing(owner: Caller) -> None:
    factories.golden(owner, "Known?", "Yes.")
    report = bring(owner, "question,answer\nKnown?,Yes.\nNew?,Yes.\n", dry_run=True)
    assert (counts(report), GoldenAnswer.objects.count()) == ((1, 0, 1), 1)


def test_one_broken_row_and_nothing_is_written(owner: Caller) -> None:
    report = bring(owner, "question,answer\nOne?,1\n  ,2\nThree?,3,3\nFour?,\n")
    assert faults(report) == [(3, "question"), (4, ""), (5, "answer")]
    assert not GoldenAnswer.objects.exists() and not AuditEvent.objects.filter(verb="imported into").exists()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [(1, "question"), (1, "answer")]),
        ("frage,antwort\nx,y\n", [(1, "frage"), (1, "antwort"), (1, "question"), (1, "answer")]),
        ("question,answer,answer\nx,y,z\n", [(1, "answer"), (1, "answer")]),
        ("question\nx\n", [(1, "answer")]),
        ("question,answer,namespace\nx,y,nowhere\n", [(2, "namespace")]),
        ("question,answer,namespace\nx,y,\0\n", [(2, "namespace")]),
        ("question,answer,valid_from\nx,y,tomorrow\n", [(2, "valid_from")]),
        ("question,answer,valid_from\nx,y,2030-02-31\n", [(2, "valid_from")]),
        ("question,answer,valid_from\nx,y,0001-01-01T00:00:00+23:00\n", [(2, "valid_from")]),
        ("question,answer,valid_from,valid_until\nx,y,2031-01-01,2030-01-01\n", [(2, "valid_until")]),
        ('question,answer,tags\nx,y,"[1]"\n', [(2, "tags")]),
        ("question,answer\nSame?,1\nsame?,2\n", [(3, "question")]),
        ("question,answer\nnul\0,1\n", [(2, "question")]),
        ('question,answer\nok,1\n"never closed,2\nx,3\n', [(3, "")]),
        ("question,answer\n" + "x" * 16_385 + ",1\n", [(2, "question")]),
    ],
)
def test_what_is_wrong_is_told_by_row_and_field(owner: Caller, text: str, found: list[tuple[int, str]]) -> None:
    assert faults(bring(owner, text)) == found
    assert not GoldenAnswer.objects.exists()


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("{", ""), ("[1]", ""), ('"x"', ""), ('{"question": "x"}', "answer"), ("[" * 100_000, ""),
        ('{"question": "x", "answer": 1}', "answer"), ('{"question": "x", "answer": "y", "status": "z"}', "status"),
        ('{"question": "x", "answer": "y", "tags": "z"}', "tags"),
        ('{"question": "\\ud800", "answer": "y"}', "question"),
        ('{"question": "x", "answer": "y", "namespace": "\\ud800"}', "namespace"),
    ],
)  # fmt: skip
def test_a_line_of_json_that_is_wrong_is_told_too(owner: Caller, line: str, field: str) -> None:
    good = '{"question": "Good?", "answer": "Yes.", "aliases": null, "valid_until": null}'
    report = bring_lines(owner, f"{good}\n\n{line}\n")
    assert (faults(report), GoldenAnswer.objects.exists()) == ([(3, field)], False)
    assert counts(bring_lines(owner, f"{good}\n\n")) == (1, 0, 0)


def test_a_byte_order_mark_semicolons_and_crlf_are_read(owner: Caller) -> None:
    assert counts(bring(owner, b"\xef\xbb\xbfquestion;answer\r\nOne, two?;1\r\n")) == (1, 0, 0)
    assert GoldenAnswer.objects.get().question == "One, two?"


@pytest.mark.parametrize("data", [b"question,answer\n\xff,1\n", "question,answer\nx,y\n".encode("utf-16")])
def test_bytes_that_are_not_utf8_cannot_be_parsed(owner: Caller, data: bytes) -> None:
    with pytest.raises(access.Unparsable):
        bring(owner, data)


def test_a_thousand_faults_are_listed_and_the_rest_counted(owner: Caller) -> None:
    report = bring(owner, "question,answer\n" + ",x\n" * 1_500)
    assert (len(report.faults), report.more_faults) == (1_000, 500)


def test_an_owner_may_publish_what_is_imported(owner: Caller) -> None:
    first = bring(owner, "question,answer,aliases\nHow do I pay?,By card.,How can I pay?\n", publish=True)
    assert counts(first) == (1, 0, 0)
    assert services.answer(owner, services.Question("how can i pay?")).answer == "By card."
    second = bring(owner, "question,answer\nHow do I pay?,By invoice.\n", publish=True)
    assert counts(second) == (0, 1, 0)
    served = services.answer(owner, services.Question("how can i pay?"))
    assert (served.answer, served.golden_version) == ("By invoice.", 2)
    assert counts(bring(owner, "question,answer\nHow do I pay?,By invoice.\n", publish=True)) == (0, 0, 1)
    row = GoldenAnswer.objects.get()
    assert (row.status, row.approver, row.versions.count()) == ("published", owner.name, 2)


def test_a_draft_that_is_imported_unchanged_is_published_when_that_is_asked(owner: Caller) -> None:
    text = "question,answer\nHow do I pay?,By card.\n"
    bring(owner, text)
    assert counts(bring(owner, text, publish=True)) == (0, 0, 1)
    assert services.answer(owner, services.Question("How do I pay?")).answer == "By card."


def test_publishing_what_another_answer_already_answers_is_a_fault(owner: Caller) -> None:
    factories.golden(owner, "How do I pay?", "By card.", "Payment?")
    report = bring(owner, "question,answer\nNew?,Yes.\npayment?,No.\n", publish=True)
    assert faults(report) == [(3, "question")]
    assert GoldenAnswer.objects.count() == 1


@pytest.mark.parametrize("scopes", [("curator",), ("operator",), ("client",)])
def test_only_owners_may_publish_an_import(owner: Caller, scopes: tuple[str, ...]) -> None:
    caller, _ = factories.key(scopes=scopes)
    with pytest.raises(access.Invalid, match="owners"):
        bring(caller, "question,answer\nx,y\n", publish=True)


def test_an_import_never_touches_another_workspace(owner: Caller) -> None:
    other, _ = factories.key("other")
    theirs = factories.golden(other, "Known?", "Yes.")
    assert counts(bring(owner, "question,answer\nKnown?,No.\n")) == (1, 0, 0)
    theirs.refresh_from_db()
    assert theirs.answer == "Yes."
    assert "Yes." not in "".join(transfer.export(owner, "csv"))


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_what_is_exported_comes_back_unchanged(owner: Caller, kind: str) -> None:
    values: dict[str, Any] = {
        "question": "=1+1?", "answer": " -x\r\n\"q\", 'y'\t", "aliases": ["a|b", "[c]", "+d", " e "], "tags": ["@x"],
        "valid_from": datetime(2030, 1, 1, 0, 0, 0, 7, tzinfo=UTC),
    }  # fmt: skip
    golden.draft(owner, "default", values)
    golden.draft(owner, "default", {"question": "'=quoted", "answer": "''@x", "aliases": ["plain", "words"]})
    text = "".join(transfer.export(owner, kind))
    back = bring if kind == "csv" else bring_lines
    assert counts(back(owner, text)) == (0, 0, 2)
    GoldenAnswer.objects.all().delete()
    assert counts(back(owner, text)) == (2, 0, 0)
    row = GoldenAnswer.objects.get(question="=1+1?")
    assert {name: getattr(row, name) for name in values} == values
    assert GoldenAnswer.objects.get(question="'=quoted").answer == "''@x"


def test_an_export_holds_no_formula(owner: Caller) -> None:
    for number, start in enumerate("=+-@\t\r"):
        golden.draft(owner, "default", {"question": f"q{number}", "answer": f"{start}HYPERLINK()", "tags": ["=x"]})
    text = "".join(transfer.export(owner, "csv"))
    assert text.count("'") == 12
    assert not any(cell.startswith(tuple("=+-@\t\r")) for line in text.split("\r\n") for cell in line.split(","))


def test_an_export_is_narrowed_and_leaves_the_retired_out(owner: Caller) -> None:
    factories.namespace(owner, "other")
    golden.draft(owner, "other", {"question": "There?", "answer": "x"})
    gone = factories.golden(owner, "Gone?", "x")
    golden.retire(owner, gone.pk)

    def asked(**how: str) -> list[str]:
        return [json.loads(line)["question"] for line in "".join(transfer.export(owner, "jsonl", **how)).splitlines()]

    assert asked() == asked(namespace="other") == ["There?"]
    assert asked(status="retired") == ["Gone?"]
    assert asked(namespace="default") == []


def test_an_export_is_read_page_by_page(owner: Caller) -> None:
    space = factories.namespace(owner)
    GoldenAnswer.objects.bulk_create(GoldenAnswer(namespace=space, question=f"q{n}", answer="a") for n in range(2_100))
    parts = list(transfer.export(owner, "jsonl"))
    assert [part.count("\n") for part in parts] == [1_000, 1_000, 100]


def test_a_large_import_stays_small_in_memory(owner: Caller) -> None:
    rows = 20_000

    def lines() -> Any:
        yield HEADER.encode()
        for number in range(rows):
            yield f"Question {number}?,{'Answer. ' * 40},default,Alias {number},tag,,\r\n".encode()

    stream = io.BytesIO(b"".join(lines()))
    tracemalloc.start()
    report = transfer.import_rows(owner, transfer.read_csv(stream), dry_run=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert counts(report) == (rows, 0, 0)
    assert peak < rows * 500


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]) | st.sampled_from("'=+-@\t\r\n")))
def test_a_cell_is_never_a_formula_and_comes_back(cell: str) -> None:
    guarded = guard(cell)
    assert not guarded.startswith(tuple("=+-@\t\r\n"))
    assert unguard(guarded) == cell


@given(st.lists(st.text(st.sampled_from("ab|[]\"', "), min_size=1) | st.text(min_size=1), max_size=5))
def test_a_list_in_a_cell_comes_back(items: list[str]) -> None:
    assert cells.split(cells.join(items)) == items
