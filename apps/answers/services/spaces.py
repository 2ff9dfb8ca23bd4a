"""What belongs to a namespace beside its policy: who judges, and whether authors need a second pair of eyes."""

from __future__ import annotations

from django.db import transaction

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.answers.models import Namespace
from apps.answers.services import judging


@transaction.atomic
def configure(caller: Caller, row: Namespace, *, judge: str, four_eyes: bool) -> Namespace:
    """Choose the judge and four eyes of a namespace; a new judge looks again at what the old one was unsure of.

    Raises:
        Invalid: there is no such judge.
    """
    if judge not in Namespace.Judge.values:
        raise access.Invalid(f"A judge is one of {', '.join(Namespace.Judge.values)}.", field="judge")
    held = Namespace.objects.select_for_update(of=("self",)).get(pk=row.pk)
    if (held.judge, held.four_eyes) == (judge, four_eyes):
        return held
    another = held.judge != judge
    Namespace.objects.filter(pk=held.pk).update(judge=judge, four_eyes=four_eyes)
    held.judge, held.four_eyes = judge, four_eyes
    access.record(caller, "configured", held, judge=judge, four_eyes=four_eyes)
    if another:
        judging.learn(held)
        held.refresh_from_db()
    access.forget_on_commit()
    return held
