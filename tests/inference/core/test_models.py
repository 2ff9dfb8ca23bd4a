"""The shipped models are right on real pictures, and cached runs agree with plain ones."""

import importlib.util
import warnings
from pathlib import Path

import cv2
import numpy as np
import pytest

from apps.inference.core import blocks, calibration, comparing, detection, engine, graph, models, video
from apps.inference.core.models import shipped

NAMES = sorted(models.SHIPPED)


def _picture(name: str, height: int, width: int) -> blocks.Bytes:
    spec = importlib.util.find_spec("skimage")
    assert spec is not None
    assert spec.submodule_search_locations
    path = Path(spec.submodule_search_locations[0]) / "data" / name
    return video.fit(np.asarray(cv2.imread(str(path)), dtype=np.uint8)[..., ::-1], height, width)


@pytest.fixture(scope="module")
def loaded() -> dict[str, graph.Graph]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: graph.load(models.build(name)) for name in NAMES}


def _pixels(name: str) -> engine.Pixels:
    return engine.Pixels(models.SHIPPED[name].mean, models.SHIPPED[name].std)


@pytest.mark.parametrize(
    ("picture", "classes"),
    [
        ("chelsea.png", {281, 282, 285}),
        ("rocket.jpg", {657, 744}),
        ("coffee.png", {967, 968}),
        ("motorcycle_left.png", {665, 670}),
    ],
)
def test_the_classifier_knows_real_pictures(loaded: dict[str, graph.Graph], picture: str, classes: set[int]) -> None:
    plain = engine.PlainEngine(loaded["efficientnet-lite0"], 224, 224, _pixels("efficientnet-lite0"))
    logits = plain.frame(_picture(picture, 224, 224))["output"][0]
    assert set(np.argsort(-logits)[:3].tolist()) & classes


def test_the_text_detector_finds_lines_on_a_real_page(loaded: dict[str, graph.Graph]) -> None:
    plain = engine.PlainEngine(loaded["text-detector"], 192, 384, _pixels("text-detector"))
    found = detection.boxes(plain.frame(_picture("page.png", 192, 384)))
    assert len(found) >= 5
    blank = detection.boxes(plain.frame(np.full((192, 384, 3), 255, dtype=np.uint8)))
    assert len(blank) == 0


@pytest.mark.parametrize("name", NAMES)
def test_exact_mode_is_exact_on_a_shipped_model(loaded: dict[str, graph.Graph], name: str) -> None:
    model = engine.Model(loaded[name], 160, 224, _pixels(name))
    cached = engine.Engine(model, 160, 224, engine.Settings(bail_out_share=2.0))
    image = _picture("coffee.png", 160, 224)
    rng = np.random.default_rng(0)
    for _ in range(5):
        assert engine.relative_error(cached.frame(image).outputs, model.plain.frame(image)) <= 1e-5
        image = image.copy()
        top, left = rng.integers(0, 130), rng.integers(0, 190)
        image[top : top + 30, left : left + 30] = rng.integers(0, 256, size=(30, 30, 3))


@pytest.mark.parametrize("name", NAMES)
def test_budget_mode_agrees_on_a_quiet_scene(loaded: dict[str, graph.Graph], name: str) -> None:
    """A still picture with camera noise and one small thing that moves."""
    model = engine.Model(loaded[name], 160, 224, _pixels(name))
    watched = calibration.Watched(
        engine.Engine(model, 160, 224, engine.Settings(mode="budget")), models.SHIPPED[name].task
    )
    still = _picture("page.png" if name == "text-detector" else "chelsea.png", 160, 224).astype(np.int16)
    rng = np.random.default_rng(1)
    agreed = []
    for number in range(30):
        image = np.clip(still + rng.integers(-1, 2, size=still.shape), 0, 255).astype(np.uint8)
        image[140:148, 4 * number : 4 * number + 8] = 128
        ours = watched.frame(image)[0].outputs
        agreed.append(comparing.agreement(models.SHIPPED[name].task, ours, model.plain.frame(image)))
    assert float(np.mean(agreed)) >= 0.97


def test_altered_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = models.SHIPPED["text-detector"]
    changed = shipped.Shipped(**{**model.__dict__, "sha256": "0" * 64})
    with pytest.raises(models.WeightsError, match="not the known ones"):
        shipped.weights(changed)
    missing = shipped.Shipped(**{**model.__dict__, "package": "no_such_package"})
    with pytest.raises(models.WeightsError, match="not installed"):
        shipped.weights(missing)
