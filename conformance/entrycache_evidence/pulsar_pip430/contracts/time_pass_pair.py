"""The contract of a whole time pass over two live entries."""

from entrycache_evidence.pulsar_pip430.contracts import time_pass
from entrycache_evidence.pulsar_pip430.contracts.fixtures import QueueSlot, is_sound_queue  # noqa: F401 (a contract)

RULES = tuple(rule for rule in time_pass.RULES if rule != "R-EVICT-1")
BOUNDS = (
    "one time pass over 2 live entries: max_requeues 1, access extends; any stamps, cutoff, counts, requeues "
    "and marks; sizes 1, which a time pass does not compare"
)


def contract(first: QueueSlot, second: QueueSlot, now: int, cutoff: int) -> tuple[str, ...]:
    """Name the rules that a time pass over two entries breaks.

    pre: not first.gone and not second.gone and first.size == 1 and second.size == 1
    pre: 0 <= now and cutoff <= now and is_sound_queue((first, second), now)
    post: __return__ == ()
    """
    return time_pass.find_broken_rules((first, second), now, cutoff, True, 1)
