"""Fold lemmas of `kafka-streams`: what a turn of the loop of `maybe_evict`, and a round of that of `resize`, does.

A turn is run on any state: the eldest entry, and `rest`, which stands for all others of the namespace. What the loop
holds is noted where it asks for the total; the turn after next, which would be that of `rest`, is not run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import z3

from entrycache_evidence.induction.lemma import Lemma, Obligation, Planted
from entrycache_evidence.induction.on_terms import on_terms
from entrycache_evidence.induction.symbolic import Term, paths, raw
from entrycache_evidence.kafka_streams.induction.held import ELSEWHERE, HELD, LIMIT, SIZES, Held, cache_of, fault
from entrycache_faults.model import Model
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.environment import Environment
from entrycache_reference.kafka_streams.state import Change, Space, State, total_bytes
from entrycache_reference.rules import Rule

_EVICTS: Final = z3.Int("evicts")


class Run(NamedTuple):
    """What the loop held each time it asked for the total, and what it came to, None where it went on."""

    seen: tuple[State, ...]
    end: Change | None


class _Enough(Exception):
    """The turns that were asked for have been made."""


class _Noting:
    """The total, noted as often as it is asked for."""

    def __init__(self) -> None:
        self.seen: list[State] = []
        self.most = 0

    def limited(self, state: State, config: Config) -> int:
        """The exact total, as `maybe_evict` asks for it."""
        return self.total(state)

    def total(self, state: State) -> int:
        """The exact total, as `resize` asks for it."""
        self.seen.append(state)
        total = total_bytes(state)
        if len(self.seen) > self.most and total >= state.max_size_bytes:
            raise _Enough
        return total

    def run(self, most: int, work: Callable[[], Change]) -> Run:
        """The run of a loop that asks at most so often."""
        self.seen, self.most = [], most
        try:
            end = work()
        except _Enough:
            return Run(tuple(self.seen), None)
        return Run(tuple(self.seen), end)


_NOTING: Final = _Noting()


@cache
def _overflowing(model: Model, held: Held) -> tuple[tuple[Any, Run], ...]:
    asked = on_terms(model, {"running.limited_bytes": _NOTING.limited})
    state = cache_of(held)._replace(evicts=Term(_EVICTS))  # type: ignore[arg-type]
    env: Environment = asked["step.environment"]()
    return tuple(paths(lambda: _NOTING.run(1, lambda: asked["writes.maybe_evict"](state, "a", Config(), env)), SIZES))


Claim = Callable[[Run], Any]


def of_turns(claim: Claim) -> Callable[[Any, Model], Iterator[Obligation]]:
    """The claim on every way of a turn of `maybe_evict`."""

    def obligations(table: Any, model: Model) -> Iterator[Obligation]:
        for held in HELD:
            said = []
            for condition, run in _overflowing(model, held):
                for further, answer in paths(lambda: claim(run), z3.And(SIZES, condition)):  # noqa: B023
                    said.append(z3.Implies(z3.And(condition, further), answer))
            yield Obligation(str(held), SIZES, z3.And(said))

    return obligations


def _total(state: State) -> Any:
    return raw(total_bytes(state))


def pays(run: Run) -> Any:
    """A turn takes from its own namespace; the loop ends within the limit, with nothing left, or failing."""
    said = []
    for before, after in zip(run.seen, run.seen[1:], strict=False):
        gone = before.spaces["a"].nodes.keys() - after.spaces["a"].nodes.keys()
        freed = sum((raw(before.spaces["a"].nodes[key].size_bytes) for key in gone), z3.IntVal(0))
        said += [z3.BoolVal("x" in gone), _total(after) == _total(before) - freed]
    for state in (*run.seen, *([] if run.end is None else [run.end.state])):
        said += [raw(state.spaces["b"].nodes["all"].size_bytes) == ELSEWHERE, raw(state.max_size_bytes) == LIMIT]
    if run.end is not None and run.end.error is None:
        left = run.end.state
        said.append(z3.Or(z3.BoolVal(not left.spaces["a"].nodes), _total(left) <= LIMIT))
    return z3.And(said)


def spares(run: Run) -> Any:
    """A turn begins only above the limit."""
    begun = run.seen[:-1] if run.end is None or run.end.error is None else run.seen
    return z3.And([_total(state) > LIMIT for state in begun])


def counts(run: Run) -> Any:
    """Each turn that succeeds is counted, and nothing else."""
    said = [raw(state.evicts) == _EVICTS + at for at, state in enumerate(run.seen)]
    if run.end is not None:
        said.append(raw(run.end.state.evicts) == raw(run.seen[-1].evicts))
    return z3.And(said)


def empties(run: Run) -> Any:
    """Each turn leaves fewer entries in the namespace; they are never fewer than none."""
    return all(
        len(after.spaces["a"].nodes) < len(before.spaces["a"].nodes)
        for before, after in zip(run.seen, run.seen[1:], strict=False)
    )


SPACES: Final = {"both": (False, False), "nothing in the first": (True, False), "nothing in the second": (False, True)}


def _rounds(table: Any, model: Model) -> Iterator[Obligation]:
    """A round of `resize` over two namespaces leaves fewer entries in all; it ends within the limit, or failing."""
    asked = on_terms(model, {"namespaces.total_bytes": _NOTING.total})
    lower: Any = Term(z3.Int("lower"))
    for held in HELD:
        for name, (first, second) in SPACES.items():
            state = cache_of(held)
            emptied = {ns: Space() for ns, is_empty in zip("ab", (first, second), strict=True) if is_empty}
            state = state._replace(spaces={**state.spaces, **emptied})

            def work(state: State = state) -> Change:
                after, answer = asked["step.perform"](state, ops.Resize(lower), Config())
                return Change(after, getattr(answer, "error", None))

            # Asked for at the head of the loop, twice in a round, and at the head again.
            given = z3.And(SIZES, lower.term >= 0, lower.term < LIMIT)
            said = []
            for condition, run in paths(lambda: _NOTING.run(3, work), given):
                said.append(z3.Implies(condition, z3.BoolVal(_fewer(run)) if run.end is None else _within(run.end)))
            yield Obligation(f"{name}, {held}", given, z3.And(said))


def _entries(state: State) -> int:
    return sum(len(space.nodes) for space in state.spaces.values())


def _fewer(run: Run) -> bool:
    return len(run.seen) < 4 or _entries(run.seen[3]) < _entries(run.seen[0])


def _within(end: Change) -> Any:
    return z3.Or(z3.BoolVal(end.error is not None), _total(end.state) <= raw(end.state.max_size_bytes))


def _evicting_nothing(state: State, ns: str, config: Config, env: Environment) -> Change:
    return Change(state)


FOREVER: Final = Planted(
    "An eviction leaves its entry.",
    Model(fault(Rule.K_EVICT_4).model.package, {"flush.evict_eldest": _evicting_nothing}),
)
LOOP: Final = "the loop of maybe_evict, any number of turns: the eldest, the rest of its namespace as one, another one"

LEMMAS: Final = (
    Lemma(Rule.K_EVICT_4, f"{LOOP}; who pays, and where it ends", of_turns(pays), fault(Rule.K_EVICT_4)),
    Lemma(Rule.K_EVICT_5, f"{LOOP}; a turn begins only above the limit", of_turns(spares), fault(Rule.K_EVICT_5)),
    Lemma(Rule.K_EVICT_6, f"{LOOP}; each turn is counted", of_turns(counts), fault(Rule.K_EVICT_6)),
    Lemma(
        Rule.K_LIVENESS_1,
        f"{LOOP}; each turn lowers the rank, the number of entries of the namespace; a listener that performs nothing",
        of_turns(empties),
        FOREVER,
    ),
    Lemma(
        Rule.K_RESIZE_2,
        "a round of the loop of resize over two namespaces, each an entry and the rest as one or empty, lowers the "
        "rank, the number of all entries; the loop ends within the limit; a listener that performs nothing",
        _rounds,
        FOREVER,
    ),
)
"""What holds of the loops, over any number of entries."""
