"""No case and no history of kafka-streams has an entry that is larger than the subject takes."""

import dataclasses
import random
from collections.abc import Iterator
from typing import Any

import pytest

from entrycache_conformance import generate
from entrycache_conformance.levels import offers_histories
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.kafka_streams.limits import HISTORY_ENTRY_BYTES, WRITES, nested_ops
from entrycache_conformance.systems.reference import reference_subject
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.system import seeded_draw
from entrycache_reference.kafka_streams.change import size_bytes
from entrycache_reference.kafka_streams.ops import Put


def limited(most: int, **changes: Any) -> Declaration:
    """Return the reference's declaration with this `max_size`."""
    declaration = reference_subject(SYSTEMS["kafka-streams"]).declaration
    limits = dataclasses.replace(declaration.limits, max_size=most, **changes)
    return dataclasses.replace(declaration, limits=limits, sizes=(100,))


def sizes(op: Any) -> Iterator[int]:
    """Yield the sizes of the entries that an operation writes, also inside calls."""
    for one in getattr(op, "entries", (op,)) if isinstance(op, WRITES) else ():
        pair = one if isinstance(one, tuple) else (one.key, one.value)
        yield size_bytes(*pair, getattr(one, "topic", ""), getattr(one, "headers", ()))
    for inner in nested_ops(op):
        yield from sizes(inner)


@pytest.mark.long
@pytest.mark.parametrize("most", [47, 60, 180])
def test_a_case_has_no_entry_that_is_larger_than_the_subject_takes(most: int) -> None:
    declaration, source, largest = limited(most), random.Random(1), 0
    cases, config = declaration.system.cases, declaration.base_config()
    # An open view leaves answers to the subject, so some of its cases have a step that is not judged.
    menu = cases.menu([name for name in declaration.system.ops_up_to("views") if not name.startswith("view_")], "views")
    for workload in (None, *cases.workloads.values()):
        for _ in range(15):
            steps = generate.make_case(source.randint, declaration, menu, None, workload=workload).case.steps
            assert cases.unsupported_reason(declaration, config, steps) == ""
            largest = max([largest, *(size for op in steps for size in sizes(op))])
    assert most - 5 <= largest <= most
    larger = cases.unsupported_reason(declaration, config, [Put("a", "x", "v" * most)])
    assert f"the subject takes at most {most}" in larger


def test_a_subject_whose_entries_are_smaller_than_those_of_histories_gets_none() -> None:
    declaration = limited(HISTORY_ENTRY_BYTES, threads=4)
    histories = declaration.system.histories
    assert histories is not None
    generated = [
        histories.make(seeded_draw(random.Random(seed)), declaration, kind)
        for kind in histories.kinds
        for seed in range(30)
    ]
    assert max(size for history in generated for op in history.steps for size in sizes(op)) == HISTORY_ENTRY_BYTES
    assert offers_histories(declaration)
    assert not offers_histories(limited(HISTORY_ENTRY_BYTES - 1, threads=4))


def test_a_limit_that_no_entry_keeps_is_refused() -> None:
    with pytest.raises(UsageError, match="max_size is 46, and an entry with a key and a value of one byte is larger"):
        generate.make_case(random.Random(0).randint, limited(46), ["put"], None)
