"""State machines under `settings(backend="crosshair")`: small ones, in which each example takes seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from entrycache import Refuse, Subject, state_machine
from entrycache_conformance.state_machine import AnswerDiffers

pytestmark = pytest.mark.long


class Sizes(Subject):
    """A cache that holds sizes."""

    system, settings = "pulsar-pip430", ()

    def __init__(self, config: Any) -> None:
        self.sizes: dict[Any, int] = {}

    def insert(self, cache: str, pos: tuple[int, int], size: int, expected_reads: int | None = None) -> Any:
        if size < 0:
            raise Refuse
        is_new = (cache, pos) not in self.sizes
        self.sizes.setdefault((cache, pos), size)
        return {"inserted": is_new}


class Refusing(Sizes):
    """A cache that takes nothing."""

    def insert(self, cache: str, pos: tuple[int, int], size: int, expected_reads: int | None = None) -> Any:
        super().insert(cache, pos, size)
        return {"inserted": False}


def test_a_small_machine_runs_and_finds_a_plain_mistake(tmp_path: Path) -> None:
    pytest.importorskip("hypothesis_crosshair_provider", reason="hypothesis-crosshair is missing")
    few = settings(
        backend="crosshair",
        max_examples=3,
        stateful_step_count=3,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )
    run_state_machine_as_test(state_machine(Sizes, level="range", failures=tmp_path), settings=few)
    with pytest.raises(AnswerDiffers) as raised:
        run_state_machine_as_test(state_machine(Refusing, level="range", failures=tmp_path), settings=few)
    assert "Refusing breaks R-INSERT-" in "\n".join(raised.value.__notes__)
