"""Every worker's sign of life, for the readiness page."""

from typing import Any

from celery.signals import heartbeat_sent

from apps.metrics import services as metrics


@heartbeat_sent.connect
def beat(sender: Any, **kwargs: Any) -> None:
    """Tell the readiness page that this worker lives."""
    metrics.heartbeat(str(sender.eventer.hostname).split("@")[0])
