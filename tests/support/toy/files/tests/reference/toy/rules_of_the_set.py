"""The rules of the set, each in a few steps."""

from __future__ import annotations

import pytest
from entrycache_evidence.core import models
from entrycache_evidence.core.models import current_model

from entrycache_conformance.systems.toy.system import SYSTEM
from entrycache_reference.toy import Config
from entrycache_reference.toy.ops import Has, Op, Put
from entrycache_reference.toy.outcomes import Found, Kept, Outcome


def outcomes(*steps: Op, limit: int = 2) -> list[Outcome]:
    """What the reference answers, or the model that is asked for."""
    config = Config(limit)
    models.report_run(SYSTEM.name, config, steps)
    model = current_model() or SYSTEM.model
    state = model.initial(config)
    told = []
    for op in steps:
        done = model.step(state, op, config)
        state = done.state
        told.append(done.outcome)
    return told


@pytest.mark.rule("T-PUT-1")
def test_t_put_1__what_was_put_is_there() -> None:
    assert outcomes(Put("x"), Has("x")) == [Kept(True), Found(True)]


@pytest.mark.rule("T-PUT-2")
def test_t_put_2__a_full_set_takes_no_new_key() -> None:
    assert outcomes(Put("x"), Put("x"), Put("y"), limit=1) == [Kept(True), Kept(True), Kept(False)]


@pytest.mark.rule("T-HAS-1")
def test_t_has_1__what_was_not_put_is_not_there() -> None:
    assert outcomes(Put("x"), Has("y")) == [Kept(True), Found(False)]


@pytest.mark.rule("T-LIVENESS-1")
def test_t_liveness_1__a_question_has_its_own_answer() -> None:
    assert outcomes(Has("x")) == [Found(False)]
