"""What the released caches do otherwise than the protocol promises, on cases that were found and shrunk."""

from __future__ import annotations

from pathlib import Path

import pytest

from entrycache_conformance.replay import replay
from entrycache_conformance.subjects.resolve import Choice, resolve
from entrycache_reference.errors import MissingPrerequisite
from entrycache_reference.rules import Rule

CASE = Path(__file__).parent / "undeliverable-eviction.json"


@pytest.mark.parametrize("version", ["3.9.2", "4.0.0", "4.3.1"])
def test_a_dirty_entry_whose_eviction_cannot_be_delivered_is_lost(version: str) -> None:
    try:
        subject = resolve(Choice(f"kafka-streams:{version}", timeout_seconds=60))
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    try:
        replayed = replay(CASE, subject)
    finally:
        subject.close()
    assert replayed.failure is not None
    assert replayed.failure.difference.at == 1
    assert replayed.rules == (Rule.K_EVICT_6,)
    assert replayed.failure.difference.got == {"entries": 0, "bytes": 0, "tracked": 47}
