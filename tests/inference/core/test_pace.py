"""What decides by time is not led astray by one frame that was held up."""

from __future__ import annotations

from apps.inference.core.pace import Pace


def test_one_run_that_was_held_up_loses_a_plain_run_at_most() -> None:
    pace = Pace(plain_ms=20.0, dense_ms=22.0)
    pace.saw_partial(0.3, 5_000.0)
    assert pace.saved_ms == -20.0
    pace.saw_partial(0.3, 5.0)
    assert pace.saved_ms == -5.0


def test_a_disappointment_is_forgotten() -> None:
    pace = Pace(plain_ms=20.0, dense_ms=22.0)
    pace.saw_partial(0.3, 5_000.0)
    assert not pace.pays(0.5)
    for _ in range(40):
        pace.saw_partial(0.3, 22.0 * 0.3)
    assert pace.pays(0.5)


def test_a_new_cache_is_afforded_by_what_reuse_saved_and_by_long_waiting() -> None:
    pace = Pace(plain_ms=20.0, dense_ms=36.0)
    assert not pace.affords
    pace.saw_partial(0.3, 5.0)
    assert pace.affords
    pace.spend()
    assert not pace.affords
    waited = 0
    while not pace.affords:
        pace.saw_plain(20.0)
        waited += 1
    assert waited > 20
