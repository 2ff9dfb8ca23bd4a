"""Calibrate: draw the curve, propose thresholds for an error budget, apply them with a trace."""

from __future__ import annotations

from dataclasses import asdict

from django.db import transaction

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.answers.core import calibration
from apps.answers.core.policy import Policy
from apps.answers.models import Calibration, Namespace
from apps.answers.services import policies
from apps.answers.services.judging.labels import examples


def calibrate(
    caller: Caller, namespace: Namespace, error_budget: float | None = None, confidence: float = 0.95
) -> Calibration:
    """Draw precision and recall against the threshold from the labels there are, and propose thresholds.

    Raises:
        Invalid: the budget or the confidence is not between 0 and 1.
    """
    budget = Policy.from_mapping(namespace.policy).error_budget if error_budget is None else error_budget
    for name, value in (("error_budget", budget), ("confidence", confidence)):
        if not 0 < value < 1:
            raise access.Invalid("Must lie between 0 and 1.", field=name)
    labels = examples(namespace)
    points = calibration.curve(labels, confidence)
    proposal = calibration.propose(labels, budget, confidence)
    return Calibration.objects.create(
        namespace=namespace,
        error_budget=budget,
        confidence=confidence,
        labels=len(labels),
        curve=[asdict(point) for point in points],
        proposal=asdict(proposal),
        by=caller.name,
    )


@transaction.atomic
def apply(caller: Caller, row: Calibration) -> Namespace:
    """Put the proposed thresholds in force.

    Raises:
        Conflict: the calibration proposes none.
    """
    names = ("tau_static", "tau_dynamic", "sigma_min")
    patch = {name: row.proposal.get(name) for name in names}
    if any(value is None for value in patch.values()):
        raise access.Conflict("This calibration proposes no thresholds: " + row.proposal.get("note", ""))
    namespace, _ = policies.change(caller, row.namespace.name, patch, reason=f"calibration {row.pk}")
    return namespace
