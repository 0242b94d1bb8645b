"""The contract of a whole time pass over at most two slots."""

from entrycache_evidence.pulsar_pip430.contracts import fixtures
from entrycache_reference.pulsar_pip430 import config, passes
from entrycache_reference.vocabulary import Position

RULES = (
    "R-STATE-2",
    "R-STATE-3",
    "R-EVICT-1",
    "R-EVICT-2",
    "R-EVICT-8",
    "R-EXPIRE-1",
    "R-EXPIRE-2",
    "R-REQUEUE-4",
    "R-REQUEUE-6",
    "R-REQUEUE-8",
)
BOUNDS = (
    "one time pass over at most 2 slots, live or dead: max_requeues 0 or 1; any stamps, cutoff, counts, "
    "requeues and flags; sizes 1, which a time pass does not compare"
)


def find_broken_rules(
    queue: tuple[fixtures.QueueSlot, ...], now: int, cutoff: int, extend: bool, most: int
) -> tuple[str, ...]:
    """Return the rules that this time pass breaks."""
    pre = fixtures.build_state(queue, now, config.Settings(1000, 0.9, 1, most, extend))
    step = fixtures.function_under_contract("passes.run_pass")(pre, passes.PassKind.TIME, cutoff, config.Config())
    wrong = list(fixtures.find_broken_order(queue, pre, step))
    entries = step.state.caches[fixtures.CACHE].entries
    for number, held in enumerate(queue):
        entry = entries.get(Position(0, number))
        if not held.gone and held.stamp >= cutoff and (entry is None or entry.requeues != held.requeues):
            wrong.append("R-EXPIRE-1")
    # Stamps ascend, so a young head means that all are young.
    if any(entry.stamp_nanos < cutoff for entry in entries.values()):
        wrong.append("R-EXPIRE-2")
    return tuple(wrong)


def contract(
    first: fixtures.QueueSlot, second: fixtures.QueueSlot, held: int, now: int, cutoff: int, extend: bool, most: int
) -> tuple[str, ...]:
    """Name the rules that a time pass over at most two slots breaks.

    pre: 0 <= held <= 2 and 0 <= most <= 1 and 0 <= now and cutoff <= now
    pre: is_sound_queue((first, second)[:held], now)
    pre: all(slot.size == 1 for slot in (first, second)[:held])
    post: __return__ == ()
    """
    return find_broken_rules((first, second)[:held], now, cutoff, extend, most)
