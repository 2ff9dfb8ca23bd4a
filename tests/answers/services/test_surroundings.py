"""Labels count for the questions around them."""

from __future__ import annotations

import pytest

from apps.answers.services import judging, policies
from apps.answers.services.judging import LabelledPair
from apps.answers.services.judging.surroundings import measured, taught_examples
from tests import factories

pytestmark = pytest.mark.django_db


def test_a_refusal_is_remembered_around_it_and_each_label_is_measured_without_itself() -> None:
    caller, _ = factories.key()
    golden = factories.golden(caller, "How do I lock my card?", "In the app.")
    factories.golden(caller, "How do I change my address?", "By letter.")
    namespace = policies.namespace(caller.workspace_id, "default")
    row = factories.verification(golden, "how can I unlock the card", similarity=0.8, margin=0.3)
    assert measured(row) == {}
    pairs = [
        LabelledPair("how can I unlock my card", golden.question, False),
        LabelledPair("what locks my card", golden.question, True),
    ]
    judging.add_pairs(caller, namespace, pairs)
    found = measured(row)
    assert found["refuted"] > 0.9
    assert found["support"] >= 0.8
    refused = next(example for example in taught_examples(namespace) if not example.same)
    assert refused.features["refuted"] == 0
