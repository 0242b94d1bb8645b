"""The planted faults of the reference that answer as a subject did."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from entrycache_conformance.systems.pulsar_pip430.probe import Probed
from entrycache_faults.mutants import MUTANTS, OTHERS, Mutant, applied, flips
from entrycache_protocol.errors import EntrycacheError
from entrycache_protocol.subject import UnderTest
from entrycache_reference.pulsar_pip430 import passes
from entrycache_reference.pulsar_pip430.state import Slot
from entrycache_reference.rules import Rule


def alike(probed: Probed, subject: UnderTest) -> list[Rule]:
    """The rules of planted faults that answer just as the subject did, to the last look."""
    return _alike(probed, subject, (*MUTANTS, *OTHERS)) or _alike(probed, subject, flips())


def _alike(probed: Probed, subject: UnderTest, mutants: Iterable[Mutant]) -> list[Rule]:
    """The rules whose planted fault in the reference makes it answer as the subject did."""
    return [mutant.rule for mutant in mutants if _answers_alike(probed, mutant, subject)]


REQUEUES_MOST = 10_000


class _Endless(Exception):
    """A planted fault makes a pass requeue for ever."""


@contextmanager
def ending_passes() -> Iterator[None]:
    """Passes of the faulty reference end: after very many requeues one raises."""
    put_back = passes.put_back
    left = REQUEUES_MOST

    def counted(queue: deque[Slot | None], slot: Slot) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise _Endless
        put_back(queue, slot)

    passes.put_back = counted
    try:
        yield
    finally:
        passes.put_back = put_back


def _answers_alike(probed: Probed, mutant: Mutant, subject: UnderTest) -> bool:
    """Whether the faulty reference is right up to the difference and there answers what the subject answered."""
    case = probed.case
    introspection = subject.declaration.introspection
    last = probed.difference.at
    with applied(mutant), ending_passes():
        try:
            state = case.system.model.initial(case.config)
            for at, op in enumerate(case.steps[: last + 1]):
                done = case.system.model.step(state, op, case.config)
                wanted = probed.difference.got if at == last else probed.steps[at].outcome
                if case.system.wire.declared_part(done.outcome, introspection) != case.system.wire.declared_part(
                    wanted, introspection
                ):
                    return False
                state = done.state
        except EntrycacheError:
            raise
        except Exception:  # a planted fault may break anything; then it explains nothing
            return False
    return True
