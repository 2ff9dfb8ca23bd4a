"""One stream through one network: reuse what did not move, compute the rest, or run plain when that is cheaper."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from apps.inference.core import blocks, motion, program
from apps.inference.core.features import Features, Model
from apps.inference.core.frames import Clock, FrameResult, Match, Outcome, Settings, timed
from apps.inference.core.network.loading import Graph
from apps.inference.core.pace import Pace
from apps.inference.core.plain import FrameError, Outputs, Pixels, PlainEngine, relative_error, shape_of

__all__ = [
    "Engine", "FrameError", "FrameResult", "Model", "Outputs", "Pixels", "PlainEngine", "Settings", "relative_error",
]  # fmt: skip

Image = npt.NDArray[np.generic]
_CUT_DB = 20.0
_HOPELESS = 0.9
_MOST = 0.5
# A network that amplifies rounding this much on its first frame could pass 1e-5 on a later one.
_DOUBT = 4e-6
_LOOK_EVERY = 4


class Engine:
    """The cache of one stream; not for several threads at once."""

    def __init__(
        self,
        model: Graph | Model,
        height: int,
        width: int,
        settings: Settings | None = None,
        pixels: Pixels | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.model = model if isinstance(model, Model) else Model(model, height, width, pixels)
        self.size = (height, width)
        self.features = Features(self.model, truncating=self.settings.mode == "budget")
        # Truncation stops about a third of what the masks predict; the first frames tell better.
        self.pace = Pace(ratio=0.7 if self.settings.mode == "budget" and self.settings.eps > 0 else 1.0)
        self._reference: Image | None = None
        self._previous: Image | None = None
        self._outputs: Outputs = {}
        self._age = self._bailed = 0
        # Cached features were made with looser thresholds: plain runs until a new cache is worth its cost.
        self._stale = False
        # Bail-outs to wait for before looking whether the scene has settled, and the savings when that was bet on.
        self._rest, self._bet = 1, -1.0
        # Where the tail holds most of the work, pieces save little and cost exactness: whole frames only.
        self._trusted = self.settings.mode == "budget" or self.features.part.tail_share < _MOST

    def frame(self, image: Image) -> FrameResult:
        """The outputs for the next frame: uint8 RGB (height, width, channels) or float32 (1, c, h, w)."""
        clock = Clock()
        pixels = self._accept(image)
        if self._reference is None or self._reference.dtype != pixels.dtype:
            return self._first(image, pixels, clock)
        self._age += 1
        match = self._match(pixels)
        clock.lap("match")
        if self.settings.expiry and self._age >= self.settings.expiry:
            return self._renew(image, pixels, clock, "expiry", match.grid)
        if self._stale:
            return self._dense(image, pixels, match, clock)
        if not match.grid.any() and match.move == (0, 0):
            self.pace.saw_reuse()
            return self._result("reused", match, clock)
        if not self._trusted:
            return self._renew(image, pixels, clock, "dense tail", match.grid)
        match = self._predict(pixels, match)
        clock.lap("predict")
        if self._pays(match.share):
            return self._partial(pixels, match, clock)
        return self._dense(image, pixels, match, clock)

    def _first(self, image: Image, pixels: Image, clock: Clock) -> FrameResult:
        """Run both ways: for the times that decide later, and to see whether this network can be exact in pieces."""
        exact = self.settings.mode == "exact"
        plain = self.model.plain.frame(image) if exact or not self.pace.plain_ms else {}
        if self._trusted and not self.pace.plain_ms:
            self.features.rebuild(pixels, self.settings.eps)
            self.shadow(image)
        result = self._renew(image, pixels, clock, "first", self._all())
        if exact and self._trusted and relative_error(result.outputs, plain) > _DOUBT:
            self._trusted, self._outputs = False, plain
            result = replace(result, outputs=plain)
        return result

    def _renew(self, image: Image, pixels: Image, clock: Clock, reason: str, grid: blocks.Bytes) -> FrameResult:
        """A full run that becomes the reference: through the cache, or plain where pieces cannot be trusted."""
        if self._trusted:
            return self._rebuild(pixels, clock, reason, grid)
        self._outputs = self.shadow(image)
        self._reference, self._previous, self._age = pixels.copy(), None, 0
        clock.lap("plain")
        return self._result("dense", Match(grid, share=1.0), clock, reason)

    def shadow(self, image: Image) -> Outputs:
        """The plain run of a frame; the cache is left alone."""
        outputs, took = timed(lambda: self.model.plain.frame(image))
        self.pace.saw_plain(took)
        return outputs

    def reset(self) -> None:
        """Forget the cached features; the next frame is dense."""
        self._reference = self._previous = None

    def tighten(self, settings: Settings) -> None:
        """Change a running stream's thresholds, not mode or block; nothing is reused until the cache is made anew."""
        self.settings = replace(settings, mode=self.settings.mode, block=self.settings.block)
        self._stale = True

    def explore(self, settings: Settings) -> None:
        """Relax a stream that could not be reused: the cache is made anew soon, whatever was bet on before."""
        self.tighten(settings)
        self._rest, self._bailed = 1, 0

    def keep(self, image: Image) -> None:
        """Keep a frame just bailed out of, so that the next one can be compared with it."""
        self._previous = self._accept(image).copy()

    def loosen(self, settings: Settings) -> None:
        """Relax a running stream's thresholds, not mode or block; what is cached is good enough for them."""
        self.settings = replace(settings, mode=self.settings.mode, block=self.settings.block)
        self.features.tolerate(self.settings.eps)

    def would_pay(self, image: Image, psnr_db: float) -> bool:
        """Whether the frame just bailed out of could be reused with another threshold, at the cost of a new cache."""
        if not self.pace.affords:
            return False
        pixels = self._accept(image)
        for reference in (self._reference, self._previous):
            if reference is None or reference.dtype != pixels.dtype:
                continue
            grid = blocks.merge(blocks.match_budget(pixels, reference, self.settings.block, psnr_db))
            if self._pays(self.features.predict(blocks.expand(grid, self.settings.block, *self.size))):
                return True
        return False

    def memory_bytes(self) -> int:
        """Bytes this stream holds, the shared weights left out."""
        frames = sum(f.nbytes for f in (self._reference, self._previous) if f is not None)
        return self.features.nbytes() + frames

    def reuse_map(self) -> npt.NDArray[np.float32]:
        """Share of work (0..1) that the last partial frame redid at every block, for pictures."""
        return self.features.work_map(blocks.grid_shape(*self.size, self.settings.block))

    def _accept(self, image: Image) -> Image:
        if shape_of(image) != self.model.plain.size:
            raise FrameError(f"the network takes (c, h, w) = {self.model.plain.size}, the frame is {shape_of(image)}")
        return np.ascontiguousarray(image if image.dtype == np.uint8 else image[0].transpose(1, 2, 0))

    def _all(self) -> blocks.Bytes:
        return np.ones(blocks.grid_shape(*self.size, self.settings.block), dtype=np.uint8)

    def _compare(self, pixels: Image, reference: Image) -> blocks.Bytes:
        s = self.settings
        if s.mode == "exact":
            return blocks.match_exact(pixels, reference, s.block)
        return blocks.match_budget(pixels, reference, s.block, s.psnr_db)

    def _match(self, pixels: Image) -> Match:
        assert self._reference is not None
        return Match(self._compare(pixels, self._reference))

    def _predict(self, pixels: Image, match: Match) -> Match:
        learns = self.settings.bail_out_share is None and not self.settings.motion
        if learns and float(match.grid.mean()) > _HOPELESS:
            return replace(match, share=1.0)
        still = replace(match, grid=blocks.merge(match.grid))
        still = replace(still, share=self.features.predict(blocks.expand(still.grid, self.settings.block, *self.size)))
        moved = self._moved(pixels, match) if self.settings.motion and pixels.dtype == np.uint8 else None
        if moved is None:
            return still
        if moved.share < still.share:
            return moved
        self.features.predict(blocks.expand(still.grid, self.settings.block, *self.size))
        return still

    def _moved(self, pixels: Image, match: Match) -> Match | None:
        """The match at the frame's mean movement, every block checked again at that one offset."""
        s = self.settings
        assert self._reference is not None
        move = motion.estimate(pixels, self._reference, match.grid, s.block, s.psnr_db)
        if move == (0, 0):
            return None
        grid = self._compare(pixels, motion.shifted(self._reference, move))
        grid = blocks.merge(motion.uncover(grid, s.block, *self.size, move))
        mask = blocks.expand(grid, s.block, *self.size)
        return Match(grid, move, self.features.predict(mask, program.shifts(self.features.part.network, move)))

    def _pays(self, share: float) -> bool:
        limit = self.settings.bail_out_share
        return share < 1 and self.pace.pays(share) if limit is None else share < limit

    def _partial(self, pixels: Image, match: Match, clock: Clock) -> FrameResult:
        assert self._reference is not None
        if match.move != (0, 0):
            self._reference = motion.shifted(self._reference, match.move)
        (changed, took) = timed(lambda: self.features.update(pixels, match.move))
        blocks.renew(match.grid, pixels, self._reference, self.settings.block)
        clock.lap("layers")
        if changed:
            self._outputs, more = timed(self.features.outputs)
            took += more
        self.pace.saw_partial(match.share, took)
        clock.lap("tail")
        return self._result("partial", replace(match, share=self.features.share()), clock)

    def _rebuild(self, pixels: Image, clock: Clock, reason: str, grid: blocks.Bytes) -> FrameResult:
        _, took = timed(lambda: self.features.rebuild(pixels, self.settings.eps))
        self._outputs, more = timed(self.features.outputs)
        self.pace.saw_dense(took + more)
        self._reference, self._previous, self._age, self._stale = pixels.copy(), None, 0, False
        clock.lap("layers")
        return self._result("dense", Match(grid, share=1.0), clock, reason)

    def _dense(self, image: Image, pixels: Image, match: Match, clock: Clock) -> FrameResult:
        """Bail-out: a plain run that leaves the cache alone; or a new cache when the scene has settled elsewhere."""
        self._bailed += 1
        if self._bailed == 1:
            self._settle_bet()
        # A scene that keeps moving is looked at now and then only: the look is what dense video pays.
        looks, keeps = (self._looks(self._bailed + k) for k in (0, 1))
        reason = self._renewal(pixels) if looks else ""
        if keeps:
            self._previous = pixels.copy()
        fixed = self.settings.bail_out_share is not None
        if reason and (fixed or self.pace.affords):
            self.pace.spend()
            self._bet = self.pace.saved_ms
            return self._rebuild(pixels, clock, reason, match.grid)
        outputs = self.shadow(image)
        clock.lap("plain")
        return self._result("dense", replace(match, share=1.0), clock, "bail-out", outputs)

    def _looks(self, bailed: int) -> bool:
        return bailed >= self._rest and (bailed < self._rest + _LOOK_EVERY or bailed % _LOOK_EVERY == 0)

    def _settle_bet(self) -> None:
        """A cache made anew that saved less than it cost makes the next one wait longer."""
        if self._bet >= 0:
            paid = self.pace.saved_ms - self._bet >= self.pace.dense_ms - self.pace.plain_ms
            self._rest = 1 if paid else min(4 * self._rest, 256)
            self._bet = -1.0

    def _renewal(self, pixels: Image) -> str:
        """Why the cache should be made anew although this frame cannot use it; empty when it should not."""
        assert self._reference is not None
        if self._previous is None:
            lost = blocks.psnr(pixels, self._reference, self.settings.block) < _CUT_DB
            return "scene cut" if float(lost.mean()) >= self.settings.scene_cut else ""
        grid = blocks.merge(self._compare(pixels, self._previous))
        share = self.features.predict(blocks.expand(grid, self.settings.block, *self.size)) if grid.any() else 0.0
        return "settled" if self._pays(share) else ""

    def _result(
        self, outcome: Outcome, match: Match, clock: Clock, reason: str = "", outputs: Outputs | None = None
    ) -> FrameResult:
        if reason != "bail-out":
            self._previous, self._bailed = None, 0
        return FrameResult(
            outputs=self._outputs if outputs is None else outputs,
            outcome=outcome,
            dirty_share=float(match.grid.mean()),
            work_share=match.share,
            bail_out=reason == "bail-out",
            timings_ms=clock.total(),
            recompute=match.grid,
            reason=reason,
            motion=match.move,
        )
