"""The embedded PostgreSQL: starts, stops, recovers, and never runs as root."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.stack import children
from config.stack.postgres import Postgres, PostgresError

pytestmark = pytest.mark.stack
NO_NAMESPACES = """
import sys
sys.path.insert(0, {folder!r})
import launch
launch._succeeds = lambda account: False
launch.main()
"""


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[Postgres]:
    server = Postgres(tmp_path)
    yield server
    server.stop()


def write(server: Postgres) -> None:
    with server.connect() as connection:
        connection.execute("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n")


def count(server: Postgres) -> int:
    with server.connect() as connection:
        row = connection.execute("SELECT count(*) FROM kept").fetchone()
    assert row is not None
    return int(row[0])


def kill(server: Postgres) -> None:
    assert server.child is not None
    server.child.kill()
    server.child.wait()


def test_it_is_postgresql_18_with_vectors(postgres: Postgres) -> None:
    postgres.start()
    with postgres.connect() as connection:
        connection.execute("CREATE EXTENSION vector")
        row = connection.execute("SELECT '[3,4]'::halfvec(2) <-> '[0,0]', upper('é') FROM version()").fetchone()
        assert row == (5.0, "É")
        assert connection.info.server_version // 10_000 == 18


def test_what_was_written_is_there_after_a_stop(postgres: Postgres) -> None:
    postgres.start()
    write(postgres)
    postgres.stop()
    assert not list(postgres.socket.glob(".s.*"))
    postgres.start()
    assert count(postgres) == 1000


def test_what_was_committed_is_there_after_a_kill(postgres: Postgres) -> None:
    postgres.start()
    write(postgres)
    kill(postgres)
    postgres.start()
    assert count(postgres) == 1000
    with postgres.connect() as connection:
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            assert connection.execute(f"SHOW {name}").fetchone() == ("on",)


def test_another_program_under_the_old_number_is_not_taken_for_the_server(postgres: Postgres) -> None:
    postgres.start()
    write(postgres)
    kill(postgres)
    for path in (postgres.data / "postmaster.pid", postgres.socket / ".s.PGSQL.5432.lock"):
        _, *rest = path.read_text().splitlines()
        path.write_text("\n".join([str(os.getpid()), *rest]) + "\n")
    postgres.start(patience_s=20)
    assert count(postgres) == 1000


def test_a_second_server_never_takes_the_folder_of_a_living_one(postgres: Postgres) -> None:
    postgres.start()
    write(postgres)
    second = Postgres(postgres.data.parent)
    second.start()  # the first one answers for it
    assert count(postgres) == 1000
    assert second.child is not None
    second.child.wait(10)
    assert second.child.returncode != 0


def test_a_deep_folder_is_reached_by_a_short_socket(tmp_path: Path) -> None:
    server = Postgres(tmp_path / ("deep" * 25))
    server.data.parent.mkdir()
    server.start()
    link = Path(server.host)
    assert link.is_symlink()
    write(server)
    server.stop()
    assert not link.is_symlink()


def test_a_folder_it_cannot_use_is_reported_with_the_end_of_the_log(postgres: Postgres) -> None:
    postgres.data.mkdir(mode=0o700)
    (postgres.data / "PG_VERSION").write_text("9.6\n")
    with pytest.raises(PostgresError, match=r"(?s)ended by itself.*incompatible|ended by itself.*configuration"):
        postgres.start()


def test_only_this_user_may_reach_it(postgres: Postgres) -> None:
    postgres.start()
    assert postgres.socket.stat().st_mode & 0o077 == 0
    with postgres.connect() as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has something to shed")
def test_root_without_namespaces_runs_it_under_another_account_and_back(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "launch_elsewhere.py"
    script.write_text(NO_NAMESPACES.format(folder=str(children.LAUNCH.parent)))
    with monkeypatch.context() as patch:
        patch.setattr(children, "LAUNCH", script)
        postgres.start()
        write(postgres)
        assert postgres.data.stat().st_uid != 0
        assert postgres.child is not None
        status = Path(f"/proc/{postgres.child.pid}/status").read_text()
        assert "Uid:\t0" not in status
        postgres.stop()
    postgres.start()
    assert count(postgres) == 1000
    assert postgres.data.stat().st_uid == 0
