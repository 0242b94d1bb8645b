"""The contract of a whole size pass over two live entries."""

from entrycache_evidence.pulsar_pip430.contracts import fixtures, size_pass

RULES = size_pass.RULES
BOUNDS = (
    "one size pass over 2 live entries: max_requeues 1, access extends; any sizes, need, counts, requeues and marks; "
    "stamps 0, which a size pass does not read"
)


def contract(first: fixtures.QueueSlot, second: fixtures.QueueSlot, need: int) -> tuple[str, ...]:
    """Name the rules that a size pass over two entries breaks.

    pre: not first.gone and not second.gone and first.stamp == 0 and second.stamp == 0 and need > 0
    pre: first.size >= 0 and second.size >= 0 and first.requeues >= 0 and second.requeues >= 0
    post: __return__ == ()
    """
    return size_pass.find_broken_rules((first, second), 0, need, True, 1)
