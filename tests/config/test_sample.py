"""`manage.py sample`: everything on the first run, nothing on the second, repair of what was lost."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command

from apps.access import services as access
from apps.access.models import ApiKey, Membership, User
from apps.answers import sample, services
from apps.answers.models import GoldenAnswer, Label, Namespace
from apps.answers.sample import questions
from apps.answers.services import golden, powers
from config.management.commands.sample import read_environment, write_environment

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def path(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run the command with a few of the answers, which takes a moment instead of seconds."""
    few = sample.answers()[:6]
    monkeypatch.setattr(questions, "answers", lambda: few)
    monkeypatch.setattr(sample, "answers", lambda: few)
    return made(settings, tmp_path)


def made(settings: Any, folder: Path) -> Path:
    settings.VAR = folder
    settings.PORT = 8123
    call_command("sample")
    return folder / "demo.env"


def test_the_first_run_makes_a_workspace_that_answers(settings: Any, tmp_path: Path) -> None:
    path = made(settings, tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    values = read_environment(path)
    assert values["TOUCHSTONE_URL"] == "http://127.0.0.1:8123"
    caller = access.recognise(values["TOUCHSTONE_KEY"])
    assert caller is not None and caller.scopes == {"client", "curator", "operator"}
    served = services.answer(caller, services.Question("how do I reset my PASSWORD?"))
    assert served.outcome == "static_hit"
    assert served.answer == sample.answers()[0].answer
    user = authenticate(username=values["TOUCHSTONE_ADMIN_USER"], password=values["TOUCHSTONE_ADMIN_PASSWORD"])
    assert isinstance(user, User) and user.is_superuser
    assert user.memberships.get().role == Membership.Role.OWNER
    assert GoldenAnswer.objects.filter(status="published", namespace__workspace__slug="demo").count() == 60
    assert_the_offline_judge_is_fitted()


def assert_the_offline_judge_is_fitted() -> None:
    assert Label.objects.count() == len(sample.labels())
    assert Label.objects.filter(canary=True).count() > 20
    namespace = Namespace.objects.get()
    assert namespace.judge_version.startswith("offline:") and namespace.judge_version != "offline:unfitted"
    assert namespace.judge_state["labels"] > 200


def test_a_second_run_keeps_key_and_password_and_never_loads_the_embedder(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_text()

    def refuse() -> None:
        raise AssertionError("the embedder was asked for")

    monkeypatch.setattr(powers, "embedder", refuse)
    call_command("sample")
    assert path.read_text() == before
    assert ApiKey.objects.count() == 1


def test_what_curators_changed_is_left_alone(path: Path) -> None:
    caller = access.recognise(read_environment(path)["TOUCHSTONE_KEY"])
    assert caller is not None
    golden.retire(caller, GoldenAnswer.objects.get(question="How do I reset my password?").pk)
    call_command("sample")
    assert GoldenAnswer.objects.filter(status="published").count() == 5


def test_a_lost_file_is_written_anew_and_the_lost_key_ends(path: Path) -> None:
    lost = read_environment(path)
    path.unlink()
    call_command("sample")
    found = read_environment(path)
    assert access.recognise(lost["TOUCHSTONE_KEY"]) is None
    assert access.recognise(found["TOUCHSTONE_KEY"]) is not None
    assert authenticate(username="demo", password=lost["TOUCHSTONE_ADMIN_PASSWORD"]) is None
    assert authenticate(username="demo", password=found["TOUCHSTONE_ADMIN_PASSWORD"]) is not None


def test_another_port_changes_only_the_address(path: Path, settings: Any) -> None:
    before = read_environment(path)
    settings.PORT = 8124
    call_command("sample")
    assert read_environment(path) == {**before, "TOUCHSTONE_URL": "http://127.0.0.1:8124"}


def test_the_file_is_readable_by_its_owner_only_even_when_it_was_not(tmp_path: Path) -> None:
    path = tmp_path / "demo.env"
    path.write_text("TOUCHSTONE_KEY=old\n")
    path.chmod(0o644)
    write_environment(path, {"TOUCHSTONE_KEY": "new"})
    assert (stat.S_IMODE(path.stat().st_mode), read_environment(path)) == (0o600, {"TOUCHSTONE_KEY": "new"})


def test_the_command_says_what_it_is_for() -> None:
    command = [sys.executable, "manage.py", "sample", "--help"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "demo.env" in told
