"""The search for one order of the steps of a namespace that explains every answer.

The search is that of Wing and Gong (Testing and Verifying Concurrent Objects, 1993). It tries, on the reference, each
step that no unfinished step precedes. A state that was reached before by the same steps in another order is not entered
again (Lowe, Testing for Linearizability, 2017).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.state import State, initial, space_of
from entrycache_reference.kafka_streams.step import step
from entrycache_reference.kafka_streams.threads.history import BEFORE, Facts
from entrycache_reference.rules import BrokenPromise, HistoryStep, Rule, rule

WriteOutcome = Callable[[Any], Mapping[str, Any]]
"""An outcome of the reference as the protocol writes it."""

STATES_MAX: Final = 20_000
"""The number of states that one search enters; above that it is inconclusive."""

ATOMIC: Final = (ops.Put, ops.PutIfAbsent, ops.Get, ops.Delete, ops.Flush, ops.Evict, ops.Clear)
LISTINGS: Final = (ops.Range, ops.ReverseRange, ops.All, ops.ReverseAll)


class TooManyStates(Exception):
    """Raised when the search has entered as many states as it may."""


class _Search(NamedTuple):
    """One search: the steps in the order of their starts, and the states entered already."""

    events: Sequence[HistoryStep]
    facts: Facts
    write_outcome: WriteOutcome
    visited: set[Any]
    states_max: int


def searchable_namespaces(facts: Facts) -> tuple[str, ...]:
    """Return the namespaces in which every step is promised to be atomic and to depend on nothing outside."""
    names = {done.op.ns for done in facts.done if isinstance(getattr(done.op, "ns", None), str)}
    alone = len(names) == 1
    if next(facts.of(ops.Resize), None) is not None or (facts.overflows and not alone):
        return ()
    return tuple(sorted(ns for ns in names if _is_searchable(facts, ns)))


def _is_searchable(facts: Facts, ns: str) -> bool:
    mine = [done for done in facts.done if getattr(done.op, "ns", None) == ns]
    concurrent = [done for done in mine if 0 <= done.event.client < facts.record.clients]
    called = any(call["inner"] for done in mine for call in done.answer.get("flushed", ()))
    if any(done.inner for done in mine) or called or not concurrent:
        return False
    reads = any(isinstance(done.op, LISTINGS) for done in concurrent)
    used = facts.overflows or any(isinstance(done.op, ops.Evict) for done in mine)
    return all(isinstance(done.op, (*ATOMIC, *LISTINGS)) for done in concurrent) and not (reads and used)


@rule(Rule.K_CONCURRENCY_5)
def check_one_order(facts: Facts, write_outcome: WriteOutcome, states_max: int = STATES_MAX) -> BrokenPromise | None:
    """Return a break if no one order of the steps explains every answer of a searchable namespace.

    Raises:
        TooManyStates: a search did not end within its bound.
    """
    for ns in searchable_namespaces(facts):
        state = initial(facts.record.config)
        concurrent: list[HistoryStep] = []
        after: list[HistoryStep] = []
        for event in facts.record.events:
            if getattr(event.op, "ns", None) != ns:
                continue
            if event.client == BEFORE:
                state = step(state, event.op, facts.record.config).state
            elif event.client < facts.record.clients:
                if not isinstance(event.op, LISTINGS):
                    concurrent.append(event)
            elif isinstance(event.op, (ops.Get, ops.All, ops.Metrics)):
                after.append(event)
        concurrent.sort(key=lambda event: event.start)
        search = _Search((*concurrent, *after), facts, write_outcome, set(), states_max)
        best: list[int] = []
        if not _is_explained(search, state, best):
            return BrokenPromise(
                f"no order of the steps of {ns} explains their answers", search.events[_find_obstacle(search, best)]
            )
    return None


def _is_explained(search: _Search, state: State, best: list[int]) -> bool:
    """Return whether the remaining steps can be ordered. `best` becomes the longest order found."""
    order: list[int] = []
    stack: list[tuple[State, list[int]]] = [(state, _find_ready(search, frozenset()))]
    while stack:
        present, candidates = stack[-1]
        if len(order) == len(search.events):
            return True
        if not candidates:
            stack.pop()
            if order:
                order.pop()
            continue
        chosen = candidates.pop(0)
        result = step(present, search.events[chosen].op, search.facts.record.config)
        if not _agrees(search, search.events[chosen], search.write_outcome(result.outcome)):
            continue
        order.append(chosen)
        done = frozenset(order)
        place = (done, _relevant_state(result.state))
        if place in search.visited:
            order.pop()
            continue
        search.visited.add(place)
        if len(search.visited) > search.states_max:
            raise TooManyStates
        if len(order) > len(best):
            best[:] = order
        stack.append((result.state, _find_ready(search, done)))
    return False


def _find_ready(search: _Search, done: frozenset[int]) -> list[int]:
    """Return the steps that may be next: no unfinished step had ended before they began."""
    remaining = [number for number in range(len(search.events)) if number not in done]
    first_end = min((search.events[number].end for number in remaining), default=0)
    return [number for number in remaining if search.events[number].start <= first_end]


def _find_obstacle(search: _Search, best: Sequence[int]) -> int:
    """Return the first step, by its end, that the longest order found does not hold."""
    remaining = [number for number in range(len(search.events)) if number not in best]
    return min(remaining, key=lambda number: search.events[number].end)


def _agrees(search: _Search, event: HistoryStep, expected: Mapping[str, Any]) -> bool:
    got = event.outcome
    if isinstance(event.op, ops.Metrics):
        introspection = search.facts.record.introspection
        was_listed = any(isinstance(done.op, LISTINGS) and done.event.end < event.start for done in search.facts.done)
        names = [name for name in ("dirty", "lru") if name in introspection and not (name == "lru" and was_listed)]
        return all(list(got[name]) == list(expected[name]) for name in names)
    return bool(got == expected)


def _relevant_state(state: State) -> Any:
    """Return what later answers depend on: entries, order of use and dirty keys, but no counters."""
    spaces = []
    for ns in sorted(state.spaces):
        space = space_of(state, ns)
        nodes = tuple(sorted((key, node[:4]) for key, node in space.nodes.items()))
        spaces.append((ns, nodes, space.recent, space.dirty))
    return tuple(spaces)
