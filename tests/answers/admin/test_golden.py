"""Curators write, review, publish and retire golden answers in the console, by the services' rules."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.access.models import AuditEvent, Membership, Workspace
from apps.answers.models import GoldenAnswer, GoldenVersion
from apps.answers.services import policies
from tests import desks, factories

pytestmark = pytest.mark.django_db
LIST, IMPORT = "admin:answers_goldenanswer_changelist", "admin:answers_goldenanswer_import"
EMPTY = {"valid_from_0": "", "valid_from_1": "", "valid_until_0": "", "valid_until_1": "", "owner": "", "review_by": ""}


def write(desk: Client, question: str = "How do I pay?", answer: str = "By card.", **more: Any) -> Any:
    space = policies.namespace(desks.user_of(desk).memberships.get().workspace_id, "default")
    values = {"namespace": space.pk, "question": question, "answer": answer, "aliases": "", "tags": "", **EMPTY, **more}
    return desk.post(reverse("admin:answers_goldenanswer_add"), values, follow=True)


def change(desk: Client, row: GoldenAnswer, **more: Any) -> Any:
    seen = {"seen": row.updated_at.isoformat()}
    values = {"question": row.question, "answer": row.answer, "aliases": "", "tags": "", "attachments": "", **EMPTY}
    page = reverse("admin:answers_goldenanswer_change", args=[row.pk])
    return desk.post(page, {**values, **seen, **more}, follow=True)


def act(desk: Client, row: GoldenAnswer, verb: str, **more: str) -> Any:
    return desk.post(reverse("admin:answers_goldenanswer_act", args=[row.pk, verb]), more, follow=True)


def test_a_draft_is_written_with_its_lists_and_owner() -> None:
    factories.key()
    desk = desks.sit("curator")
    user = desks.user_of(desk)
    lists: dict[str, Any] = {"aliases": "paying\nways to pay\npaying\n", "tags": "money, billing", "owner": user.pk}
    assert "Saved as a draft" in desks.messages(write(desk, **lists))
    row = GoldenAnswer.objects.get()
    assert (row.status, row.author) == ("draft", f"user:{user.pk}")
    assert (row.aliases, row.tags, row.owner) == (["paying", "ways to pay"], ["money", "billing"], user)
    assert desks.audited("drafted")


def test_what_is_wrong_stands_at_its_field() -> None:
    factories.key()
    desk = desks.sit("curator")
    dates = {
        "valid_from_0": "2030-02-01",
        "valid_from_1": "00:00",
        "valid_until_0": "2030-01-01",
        "valid_until_1": "00:00",
    }
    page = write(desk, attachments="ftp://example.org", **dates)
    errors = page.context["adminform"].form.errors
    assert set(errors) == {"attachments", "valid_until"}
    assert not GoldenAnswer.objects.exists()


def test_the_whole_life_of_an_answer_takes_two_people() -> None:
    factories.key()
    author, other = desks.sit("curator"), desks.sit("curator", username="eve")
    write(author)
    row = GoldenAnswer.objects.get()
    assert "Submitted" in desks.messages(act(author, row, "submit"))
    page = author.get(reverse("admin:answers_goldenanswer_change", args=[row.pk])).content.decode()
    assert "somebody else must approve it" in page
    assert "somebody else must approve it" in desks.messages(act(author, row, "approve"))
    assert "Approved" in desks.messages(act(other, row, "approve"))
    assert "Published" in desks.messages(act(other, row, "publish"))
    assert GoldenVersion.objects.get().approver == f"user:{desks.user_of(other).pk}"
    assert "Retired" in desks.messages(act(author, row, "retire"))
    verbs = AuditEvent.objects.order_by("created_at").values_list("verb", flat=True)
    assert list(verbs)[-5:] == ["drafted", "submitted", "approved", "published", "retired"]


def test_a_text_that_changed_meanwhile_is_not_approved_unseen() -> None:
    factories.key()
    author, other = desks.sit("curator"), desks.sit("curator", username="eve")
    write(author)
    row = GoldenAnswer.objects.get()
    act(author, row, "submit")
    row.refresh_from_db()
    seen = row.updated_at.isoformat()
    change(author, row, answer="By cheque.")
    act(author, row, "submit")
    assert "was changed since you opened it" in desks.messages(act(other, row, "approve", seen=seen))
    row.refresh_from_db()
    assert row.status == "in_review"


def test_nobody_overwrites_what_they_have_not_seen() -> None:
    factories.key()
    desk = desks.sit("curator")
    write(desk)
    row = GoldenAnswer.objects.get()
    change(desk, row, answer="By cheque.")
    late = change(desk, row, answer="By cash.")
    assert "Somebody changed this golden answer" in late.content.decode()
    row.refresh_from_db()
    assert row.answer == "By cheque."


def test_saving_nothing_new_changes_nothing() -> None:
    caller, _ = factories.key()
    row = factories.golden(caller, "How do I pay?", "By card.")
    row.refresh_from_db()
    change(desks.sit("curator"), row)
    row.refresh_from_db()
    assert (row.status, desks.audited("edited")) == ("published", False)


def test_versions_show_their_differences_and_who_was_served() -> None:
    caller, _ = factories.key()
    row = factories.golden(caller, "How do I pay?", "By card or by cash.")
    factories.query(caller, "paying", "static_hit", golden_id=row.pk, golden_version=1)
    row.refresh_from_db()
    desk, other = desks.sit("curator"), desks.sit("curator", username="eve")
    page = change(desk, row, answer="By card or by cheque.").content.decode()
    assert "<del>cash</del><ins>cheque</ins>" in page
    for who, verb in ((desk, "submit"), (other, "approve"), (other, "publish")):
        act(who, row, verb)
    page = desk.get(reverse("admin:answers_goldenanswer_change", args=[row.pk])).content.decode()
    assert "Version 2" in page and "<del>cash</del><ins>cheque</ins>" in page and "approved by eve" in page
    served = reverse("admin:answers_query_changelist") + f"?golden_id__exact={row.pk}&golden_version__exact=1"
    assert served.replace("&", "&amp;") in page
    listed = desk.get(served).content.decode()
    assert "Who was served version 1" in listed and "paying" in listed
    assert "paying" not in desk.get(served.replace("exact=1", "exact=2")).content.decode()


def test_a_rival_is_shown_with_similarity_and_margin() -> None:
    caller, _ = factories.key()
    row = factories.golden(caller, "How do I pay?", "By card.")
    factories.golden(caller, "How do I pay??", "By cash.")
    desk = desks.sit("viewer")
    page = desk.get(reverse("admin:answers_goldenanswer_change", args=[row.pk]))
    assert [rival.kind for rival in page.context["rivals"]] == ["conflict"]
    listed = desk.get(reverse("admin:answers_goldenanswer_conflicts")).context["pairs"]
    assert [(own.text, rival.question) for own, rival in listed] in (
        [("How do I pay?", "How do I pay??")],
        [("How do I pay??", "How do I pay?")],
    )


def test_many_are_acted_on_at_once_and_refusals_are_told() -> None:
    factories.key()
    desk = desks.sit("curator")
    write(desk)
    write(desk, "How do I leave?", "Write to us.")
    first = GoldenAnswer.objects.get(question="How do I pay?")
    act(desk, first, "submit")
    keys = [str(row.pk) for row in GoldenAnswer.objects.all()]
    page = desk.post(reverse(LIST), {"action": "submit_selected", "_selected_action": keys}, follow=True)
    told = desks.messages(page)
    assert "Done for 1" in told and "Refused for 1: This golden answer is in review" in told
    assert set(GoldenAnswer.objects.values_list("status", flat=True)) == {"in_review"}


def test_the_list_is_searched_and_filtered() -> None:
    caller, _ = factories.key()
    pay = factories.golden(caller, "How do I pay?", "By card.")
    GoldenAnswer.objects.filter(pk=pay.pk).update(tags=["money"])
    leave = factories.golden(caller, "How do I leave?", "Write to us.")
    version = leave.in_force
    assert version is not None
    GoldenVersion.objects.filter(pk=version.pk).update(valid_until=timezone.now() + timedelta(days=3))
    factories.query(caller, "paying", "static_hit", golden_id=pay.pk, golden_version=1)
    desk = desks.sit("viewer")

    def found(query: str) -> list[str]:
        return [row.question for row in desk.get(reverse(LIST) + query).context["cl"].result_list]

    assert found("?q=card") == found("?q=money") == found(f"?q={pay.pk}") == found("?tag=money") == ["How do I pay?"]
    assert found("?validity=expiring") == ["How do I leave?"]
    assert found("?status__exact=draft") == []
    page = desk.get(reverse(LIST))
    assert {row.question: row.served_count for row in page.context["cl"].result_list}["How do I pay?"] == 1


def upload(desk: Client, name: str, content: str) -> Any:
    return desk.post(reverse(IMPORT), {"file": SimpleUploadedFile(name, content.encode())})


def test_an_import_is_tried_before_it_is_done() -> None:
    factories.key()
    desk = desks.sit("curator")
    page = upload(desk, "answers.csv", "question,answer,tags\nHow do I pay?,By card.,money\nHow do I leave?,Write.,\n")
    assert page.context["report"].created == 2
    assert not GoldenAnswer.objects.exists()
    done = desk.post(reverse(IMPORT), {"confirm": page.context["kept"]["id"]}, follow=True)
    assert "2 new" in desks.messages(done)
    assert set(GoldenAnswer.objects.values_list("status", flat=True)) == {"draft"}
    assert "dry run is over" in desks.messages(desk.post(reverse(IMPORT), {"confirm": "x"}, follow=True))


def test_what_was_tried_in_one_workspace_is_not_imported_into_another() -> None:
    factories.key()
    factories.key("globex")
    desk = desks.sit("curator")
    Membership.objects.create(user=desks.user_of(desk), workspace=Workspace.objects.get(slug="globex"), role="curator")
    page = upload(desk, "answers.csv", "question,answer\nHow do I pay?,By card.\n")
    desk.post(reverse("admin:access_workspace_switch"), {"workspace": "globex"})
    done = desk.post(reverse(IMPORT), {"confirm": page.context["kept"]["id"]}, follow=True)
    assert "dry run is over" in desks.messages(done)
    assert not GoldenAnswer.objects.exists()


def test_a_file_with_faults_says_which_rows_and_imports_nothing() -> None:
    factories.key()
    desk = desks.sit("curator")
    page = upload(desk, "answers.jsonl", '{"question": "How?", "answer": "So."}\n{"question": "Why?"}\nnonsense\n')
    assert [(fault.row, fault.field) for fault in page.context["report"].faults] == [(2, "answer"), (3, "")]
    assert "confirm" not in page.content.decode()
    unread = desk.post(reverse(IMPORT), {"file": SimpleUploadedFile("a.csv", b"question,answer\n\xff,b\n")})
    assert unread.context["report"] is None and "not UTF-8" in desks.messages(unread)


def test_only_owners_publish_an_import() -> None:
    factories.key()
    content = "question,answer\nHow do I pay?,By card.\n"
    for role, status in (("curator", "draft"), ("owner", "published")):
        desk = desks.sit(role)
        file = SimpleUploadedFile("a.csv", content.encode())
        page = desk.post(reverse(IMPORT), {"file": file, "publish": "on"})
        desk.post(reverse(IMPORT), {"confirm": page.context["kept"]["id"]})
        assert GoldenAnswer.objects.get().status == status


def test_an_export_can_be_imported_again() -> None:
    caller, _ = factories.key()
    factories.golden(caller, "How do I pay?", "By card.")
    desk = desks.sit("curator")
    for kind in ("csv", "jsonl"):
        reply = desk.get(reverse("admin:answers_goldenanswer_export") + f"?format={kind}")
        content = desks.whole(reply)
        assert upload(desk, f"again.{kind}", content).context["report"].unchanged == 1


def test_a_viewer_reads_and_changes_nothing() -> None:
    caller, _ = factories.key()
    row = factories.golden(caller, "How do I pay?", "By card.")
    row.refresh_from_db()
    desk = desks.sit("viewer")
    assert change(desk, row, answer="Mine.").status_code == 403
    assert act(desk, row, "retire").status_code == 403
    desk.post(reverse(LIST), {"action": "retire_selected", "_selected_action": [str(row.pk)]})
    row.refresh_from_db()
    assert (row.status, row.answer) == ("published", "By card.")
