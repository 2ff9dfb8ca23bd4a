"""Fill and empty the judge's queue, for measuring only."""

from __future__ import annotations

from apps.answers.core import text
from apps.answers.models import GoldenAnswer, GoldenVersion, Namespace, Verification
from apps.work import services as work

DEPTH = 10_000
QUESTION = "Which golden question is never near?"


def state(name: str) -> None:
    """Bring about `idle` (an empty queue) or `dead` (10,000 in it, before an endpoint that does not answer)."""
    Verification.objects.all().delete()
    if name == "dead":
        rows = _rows(Namespace.objects.get(name="default"))
        Verification.objects.bulk_create(rows, batch_size=2_000)
        for key in Verification.objects.values_list("pk", flat=True):
            work.send(Verification.task, Verification.queue, str(key))
        work.postman.messages.join()


def _rows(namespace: Namespace) -> list[Verification]:
    Namespace.objects.filter(pk=namespace.pk).update(judge=Namespace.Judge.CHAT)
    golden, fresh = GoldenAnswer.objects.get_or_create(namespace=namespace, question=QUESTION, answer="None.")
    if fresh:
        golden.in_force = GoldenVersion.objects.create(golden=golden, number=1, question=QUESTION, answer="None.")
        golden.save()
    return [
        Verification(
            namespace=namespace,
            question=f"near miss {number}",
            digest=text.digest(f"near miss {number}"),
            golden=golden,
            golden_version=1,
            golden_question=QUESTION,
            judge="chat:dead",
            similarity=0.7,
            margin=0.2,
        )
        for number in range(DEPTH)
    ]
