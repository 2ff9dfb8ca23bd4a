"""Settings come from the environment, and what makes no sense there is named at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from config import environment
from config.environment import EnvironmentProblem


def test_a_missing_variable_without_a_default_is_named() -> None:
    with pytest.raises(EnvironmentProblem, match="TOUCHSTONE_NOT_THERE is not set"):
        environment.text("TOUCHSTONE_NOT_THERE")


def test_a_secret_may_lie_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret"
    path.write_text("from the file\n")
    monkeypatch.setenv("TOUCHSTONE_SECRET_FILE", str(path))
    assert environment.text("TOUCHSTONE_SECRET") == "from the file"
    monkeypatch.setenv("TOUCHSTONE_SECRET", "from the variable")
    assert environment.text("TOUCHSTONE_SECRET") == "from the variable"


def test_a_secret_whose_file_is_not_there_is_not_taken_for_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_SECRET_FILE", "/nowhere/secret")
    with pytest.raises(EnvironmentProblem, match="TOUCHSTONE_SECRET_FILE cannot be read"):
        environment.text("TOUCHSTONE_SECRET", "a default")


@pytest.mark.parametrize(("spelling", "meaning"), [("1", True), ("Yes", True), ("off", False), ("", False)])
def test_yes_and_no_come_in_the_usual_spellings(spelling: str, meaning: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_FLAG", spelling)
    assert environment.flag("TOUCHSTONE_FLAG") is meaning


def test_what_cannot_be_read_is_named_with_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_ODD", "perhaps")
    with pytest.raises(EnvironmentProblem, match="TOUCHSTONE_ODD must be a whole number, not 'perhaps'"):
        environment.integer("TOUCHSTONE_ODD", 1)
    with pytest.raises(EnvironmentProblem, match="TOUCHSTONE_ODD must be a number, not 'perhaps'"):
        environment.number("TOUCHSTONE_ODD", 1)
    with pytest.raises(EnvironmentProblem, match="TOUCHSTONE_ODD must be true or false, not 'perhaps'"):
        environment.flag("TOUCHSTONE_ODD")


def test_a_list_is_split_at_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_LIST", " a, b ,,c")
    assert environment.names("TOUCHSTONE_LIST") == ["a", "b", "c"]


def test_a_database_address_may_name_a_socket_or_a_host() -> None:
    local = environment.database("postgres://touchstone@/site?host=/run/sockets&sslmode=disable")
    assert (local["NAME"], local["USER"], local["HOST"], local["PORT"]) == ("site", "touchstone", "/run/sockets", "")
    assert local["OPTIONS"] == {"sslmode": "disable"}
    remote = environment.database("postgresql://me:p%40ss@db.example:5433/site")
    assert (remote["PASSWORD"], remote["HOST"], remote["PORT"]) == ("p@ss", "db.example", "5433")


@pytest.mark.parametrize("address", ["", "mysql://host/name", "postgres://user@host/", "/run/sockets"])
def test_an_address_that_names_no_postgresql_database_is_refused(address: str) -> None:
    with pytest.raises(EnvironmentProblem, match="DATABASE_URL must look like"):
        environment.database(address)
