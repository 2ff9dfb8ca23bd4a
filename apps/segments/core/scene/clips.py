"""Clips with known cuts, drawn: slides that build up, shots that pan and flicker, flashes that are no cuts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

FRAMES, SIDE = 8, 64
Picture = npt.NDArray[np.float32]
Shot = Callable[[int], Picture]


def draw(count: int, seed: int, profile: str) -> tuple[Picture, npt.NDArray[np.bool_]]:
    """Draw clips.

    Args:
        count: how many.
        seed: draws all of them.
        profile: `film` or `slides`.

    Returns:
        The clips, count x 8 x 64 x 64 x 3 from 0 to 1, one frame a second; and count x 7, whether each frame but the
        first begins a new shot or slide.
    """
    rng = np.random.default_rng([seed, profile == "slides"])
    clips = np.empty((count, FRAMES, SIDE, SIDE, 3), np.float32)
    cut = np.zeros((count, FRAMES - 1), np.bool_)
    for number in range(count):
        clips[number], cut[number] = _clip(rng, _slides if profile == "slides" else _film)
    return clips, cut


def _clip(
    rng: np.random.Generator, following: Callable[[np.random.Generator], Callable[[], Shot]]
) -> tuple[Picture, npt.NDArray[np.bool_]]:
    cut = rng.uniform(size=FRAMES - 1) < rng.choice([0.0, 0.15, 0.3])
    shots = following(rng)
    shot, since, frames = shots(), 0, []
    for place in range(FRAMES):
        if place and cut[place - 1]:
            shot, since = shots(), 0
        frames.append(shot(since))
        since += 1
    return _disturbed(rng, np.stack(frames)), cut


def _disturbed(rng: np.random.Generator, frames: Picture) -> Picture:
    """Add what a camera and a codec add: noise, drifting light, now and then a flash that is no cut."""
    frames = frames + rng.normal(0, rng.uniform(0, 0.02), frames.shape).astype(np.float32)
    frames *= (1 + rng.uniform(-0.08, 0.08) * np.linspace(0, 1, FRAMES))[:, None, None, None]
    if rng.uniform() < 0.1:
        frames[rng.integers(1, FRAMES)] += rng.uniform(0.2, 0.6)
    return np.clip(frames, 0, 1).astype(np.float32)


def _film(rng: np.random.Generator) -> Callable[[], Shot]:
    """Shots of one film share its palette: backgrounds of waves that pan, and things that move before them."""
    palette = rng.uniform(0, 1, (6, 3))

    def shot() -> Shot:
        waves, phase = rng.uniform(0.02, 0.25, (3, 2)), rng.uniform(0, 6.3, 3)
        pan, base = rng.normal(0, rng.choice([0.3, 3.0]), 2), palette[rng.integers(6)]
        things = [
            (rng.uniform(0, SIDE, 2), rng.normal(0, 4, 2), rng.uniform(4, 18), palette[rng.integers(6)])
            for _ in range(rng.integers(1, 5))
        ]
        across, down = np.meshgrid(np.arange(SIDE), np.arange(SIDE))

        def frame(since: int) -> Picture:
            x, y = across + pan[0] * since, down + pan[1] * since
            tone = sum(np.sin(a * x + b * y + c) for (a, b), c in zip(waves, phase, strict=True))
            picture = np.clip(base + 0.15 * np.asarray(tone)[..., None], 0, 1)
            for place, speed, size, colour in things:
                at = place + speed * since
                picture[np.abs(across - at[0]) + np.abs(down - at[1]) < size] = colour
            return np.asarray(picture, np.float32)

        return frame

    return shot


def _slides(rng: np.random.Generator) -> Callable[[], Shot]:
    """Slides of one lecture share their look: a head, lines that come one by one, sometimes a figure or a speaker."""
    paper, ink, head = rng.uniform(0.75, 1), rng.uniform(0, 0.4, 3), rng.uniform(0, 1, 3)
    high, speaker = int(rng.integers(4, 12)), rng.uniform() < 0.3

    def shot() -> Shot:
        lines = [(int(rng.integers(4, 16)), int(rng.integers(20, 58))) for _ in range(rng.integers(2, 8))]
        shown, builds = int(rng.integers(1, len(lines) + 1)), rng.uniform() < 0.4
        figure = rng.uniform(0, 1, (8, 8, 3)).astype(np.float32) if rng.uniform() < 0.4 else None
        title = int(rng.integers(10, 55))

        def frame(since: int) -> Picture:
            picture = np.full((SIDE, SIDE, 3), paper, np.float32)
            picture[:high] = head
            picture[high // 3 : high // 3 + 2, 4:title] = paper
            for number, (left, right) in enumerate(lines[: shown + since if builds else len(lines)]):
                top = high + 4 + 6 * number
                picture[top : top + 2, left:right] = ink
            if figure is not None:
                picture[36:60, 36:60] = figure.repeat(3, 0).repeat(3, 1)
            if speaker:
                at = 52 + int(rng.integers(-2, 3))
                picture[44:, at - 6 : at + 6] = 0.3
            return picture

        return frame

    return shot
