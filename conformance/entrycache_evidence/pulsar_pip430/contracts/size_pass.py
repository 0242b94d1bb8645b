"""The contracts of a whole size pass: over at most two slots, and over two or three live entries."""

from entrycache_evidence.pulsar_pip430.contracts import fixtures
from entrycache_reference.pulsar_pip430 import config, passes
from entrycache_reference.vocabulary import Position

RULES = ("R-STATE-1", "R-EVICT-4", "R-EVICT-5", "R-EVICT-7")
_LIVE = (
    "max_requeues 1, access extends; any sizes, need, counts, requeues and marks; "
    "stamps 0, which a size pass does not read"
)
BOUNDS = {
    "contract": "one size pass over at most 2 slots, live or dead: max_requeues 0 or 1; any sizes, need, counts, "
    "requeues and flags; stamps 0, which a size pass does not read",
    "pair": f"one size pass over 2 live entries: {_LIVE}",
    "three": f"one size pass over 3 live entries: {_LIVE}",
}


def find_broken_rules(
    queue: tuple[fixtures.QueueSlot, ...], now: int, need: int, extend: bool, most: int
) -> tuple[str, ...]:
    """Return the rules that this size pass breaks."""
    pre = fixtures.build_state(queue, now, config.Settings(1000, 0.9, 1, most, extend))
    step = fixtures.function_under_contract("passes.run_pass")(pre, passes.PassKind.SIZE, need, config.Config())
    wrong = list(fixtures.find_broken_sums(queue, pre, step))
    entries = step.state.caches[fixtures.CACHE].entries
    removed = [held for number, held in enumerate(queue) if not held.gone and Position(0, number) not in entries]
    freed = sum(held.size for held in removed)
    if freed < need and entries:
        wrong.append("R-EVICT-4")
    if removed and all(freed - held.size >= need for held in removed):
        wrong.append("R-EVICT-5")
    return tuple(wrong)


def contract(
    first: fixtures.QueueSlot, second: fixtures.QueueSlot, held: int, need: int, extend: bool, most: int
) -> tuple[str, ...]:
    """Name the rules that a size pass over at most two slots breaks.

    pre: 0 <= held <= 2 and 0 <= most <= 1 and need > 0
    pre: all(slot.size >= 0 and slot.stamp == 0 and slot.requeues >= 0 for slot in (first, second)[:held])
    post: __return__ == ()
    """
    return find_broken_rules((first, second)[:held], 0, need, extend, most)


def pair(first: fixtures.QueueSlot, second: fixtures.QueueSlot, need: int) -> tuple[str, ...]:
    """Name the rules that a size pass over two entries breaks.

    pre: not first.gone and not second.gone and first.stamp == 0 and second.stamp == 0 and need > 0
    pre: first.size >= 0 and second.size >= 0 and first.requeues >= 0 and second.requeues >= 0
    post: __return__ == ()
    """
    return find_broken_rules((first, second), 0, need, True, 1)


def three(
    first: fixtures.QueueSlot, second: fixtures.QueueSlot, third: fixtures.QueueSlot, need: int
) -> tuple[str, ...]:
    """Name the rules that a size pass over three entries breaks.

    pre: not first.gone and not second.gone and not third.gone and need > 0
    pre: first.stamp == 0 and second.stamp == 0 and third.stamp == 0
    pre: first.size >= 0 and second.size >= 0 and third.size >= 0
    pre: first.requeues >= 0 and second.requeues >= 0 and third.requeues >= 0
    post: __return__ == ()
    """
    return find_broken_rules((first, second, third), 0, need, True, 1)
