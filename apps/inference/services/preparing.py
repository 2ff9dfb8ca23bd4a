"""Prepare the networks that come with the product, in the worker."""

from __future__ import annotations

from apps.inference.core import inspection, labels
from apps.inference.core.models import shipped
from apps.inference.models import Network
from apps.inference.services import storage

MOST = 512 * 2**20


def prepare(row: Network) -> None:
    """Build, keep and analyse a network of the product.

    Raises:
        WeightsError: its package is missing or altered.
        RefusedError: the engine does not accept it.
    """
    kept = storage.keep([shipped.build(row.shipped)], row.workspace_id, "models", ".onnx", MOST)
    row.renew()
    found = inspection.inspect(storage.root() / kept.file, row.input_height, row.input_width)
    names = list(labels.imagenet()) if row.purpose == Network.Task.CLASSIFICATION else []
    about = {
        "labels": names,
        "file": kept.file,
        "sha256": kept.sha256,
        "size_bytes": kept.size,
        "analysis": found.analysis,
    }
    Network.objects.filter(pk=row.pk).update(**about)
