"""Calls of listeners, which may do anything: the budget, how deep they go, and what a flush drops after one.

In place of what is performed inside a call stands any step: it answers any state that keeps what is claimed, which is
what makes the claim an induction over the depth of calls. A call that is made inside it has a greater number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Final, NamedTuple

import z3

from entrycache_evidence.induction.lemma import Lemma, Obligation, Planted
from entrycache_evidence.induction.on_terms import on_terms
from entrycache_evidence.induction.symbolic import Term, paths, raw
from entrycache_evidence.kafka_streams.induction.held import HELD, SIZES, Held, cache_of, fault, node_of
from entrycache_evidence.kafka_streams.runs import RELEASED
from entrycache_faults.model import Model
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.environment import Environment
from entrycache_reference.kafka_streams.outcomes import Done
from entrycache_reference.kafka_streams.state import Listener, Node, State, UnderWay, with_space
from entrycache_reference.rules import Rule

CALLED, BUDGET = z3.Ints("called budget")
STEPS: Final = (ops.Get("a", "x"), ops.Flush("a"), ops.Usage())
_ANY: Final = Config(1000, reentry_budget=Term(BUDGET))  # type: ignore[arg-type]


class Inside(NamedTuple):
    """One step that was performed inside a call: how many calls there had been, and how many more it made."""

    called: Any
    more: Any


def _called(state: State) -> Any:
    return raw(state.under_way.called)


def _begun() -> State:
    """A step under way in which any number of calls have begun."""
    return State(1000, under_way=UnderWay(called=Term(CALLED)))  # type: ignore[arg-type]


class _Performing:
    """Any step inside a call: it may make any number of calls more."""

    def __init__(self) -> None:
        self.met: list[Inside] = []

    def __call__(self, state: State, op: ops.Op, config: Config) -> tuple[State, Done]:
        more = z3.Int(f"calls inside step {len(self.met)}")
        self.met.append(Inside(_called(state), more))
        called: Any = Term(_called(state) + more)
        return state._replace(under_way=state.under_way._replace(called=called)), Done()


class Call(NamedTuple):
    """One call of a listener: the steps that were performed inside it, and what it came to."""

    inside: tuple[Inside, ...]
    after: State
    answers: tuple[Any, ...]


def _calls(model: Model) -> list[tuple[Any, Call]]:
    def one() -> Call:
        performing = _Performing()
        env = Environment(performing, model["stores.receive"])
        after, answers = model["listeners.performed"](_begun(), STEPS, _ANY, env)
        return Call(tuple(performing.met), after, answers)

    return paths(one)


def _of_calls(claim: Callable[[Call], Any]) -> Callable[[Any, Model], Iterator[Obligation]]:
    def obligations(table: Any, model: Model) -> Iterator[Obligation]:
        inner = [z3.Int(f"calls inside step {at}") >= 0 for at in range(len(STEPS))]
        given = z3.And(CALLED >= 0, BUDGET >= 0, *inner)
        said = [z3.Implies(condition, claim(call)) for condition, call in _calls(model)]
        yield Obligation("a call, after any number of calls", given, z3.And(said))

    return obligations


def keeps_to_the_budget(call: Call) -> Any:
    """A call has the next number. With one within the budget it performs all its steps, else none."""
    number = CALLED + 1
    made = z3.Sum(z3.IntVal(0), *(one.more for one in call.inside))
    performed = z3.If(number <= BUDGET, len(call.inside) == len(STEPS), len(call.inside) == 0)
    told = z3.BoolVal(len(call.answers) == len(call.inside))
    return z3.And(performed, told, _called(call.after) == number + made)


def goes_deeper_within_it(call: Call) -> Any:
    """Each step inside a call has a lower rank than the step that made it."""
    return z3.And(z3.BoolVal(True), *(_rank(one.called) < _rank(CALLED) for one in call.inside))


def _rank(called: Any) -> Any:
    """How many calls may still perform steps; it is never below 0."""
    return z3.If(called < BUDGET, BUDGET - called, 0)


def _uncounted(state: State) -> State:
    return state


UNCOUNTED: Final = Planted(
    "A call that performs steps is not counted.",
    Model(fault(Rule.K_LISTEN_3).model.package, {"listeners.counted_call": _uncounted}),
)

WRITTEN: Final = ("1", None)
_LATER: Final = z3.Int("a later write")


def _written_inside(value: str | None, dirty: bool) -> Node:
    return node_of(value, dirty, z3.Int("size of a later write"), 5)._replace(write=Term(_LATER))  # type: ignore[arg-type]


def _left(state: State, which: int) -> State:
    """What a call may leave of the keys of its namespace, which it does not close: none, other writes, the same."""
    space = state.spaces["a"]
    later = {key: _written_inside(*way) for key, way in zip(("x", "rest"), _WAYS[which], strict=True) if way}
    if which == len(_WAYS) - 1:
        return state
    recent = tuple(later)
    dirty = tuple(key for key, node in later.items() if node.is_dirty)
    return with_space(state, "a", space._replace(nodes=later, recent=recent, dirty=dirty))


_EACH: Final = (None, *product(WRITTEN, (False, True)))
_WAYS: Final = (*product(_EACH, _EACH), (None, None))
"""What there may be of both keys after a call; the last stands for what there was."""


def _drops(table: Any, model: Model) -> Iterator[Obligation]:
    """K-FLUSH-9 after any call: no key of a tombstone that was handed over is there."""
    config = Config(1000, variants=RELEASED)
    for held in _heard():
        for which in range(len(_WAYS)):

            def called(state: State, *rest: Any, which: int = which) -> State:
                return _left(state, which)

            asked = on_terms(model, {"flush.call_listener": called})
            pre = cache_of(held)
            ways = paths(lambda: asked["step.perform"](pre, ops.Flush("a"), config)[0], SIZES)  # noqa: B023
            gone = [key for key in pre.spaces["a"].dirty if pre.spaces["a"].nodes[key].value is None]
            said = [
                z3.Implies(condition, z3.BoolVal(not any(key in after.spaces["a"].nodes for key in gone)))
                for condition, after in ways
            ]
            yield Obligation(f"{held}, {_WAYS[which]}", SIZES, z3.And(said))


def _heard() -> list[Held]:
    return [held for held in HELD if held.listener == Listener() and held.value is None and held.dirty]


LEMMAS: Final = (
    Lemma(
        Rule.K_LISTEN_3,
        "any call, after any number of calls, under any budget, whatever calls the steps inside it make: it has the "
        "next number, and performs its steps just where that is within the budget",
        _of_calls(keeps_to_the_budget),
        fault(Rule.K_LISTEN_3),
    ),
    Lemma(
        Rule.K_LIVENESS_1,
        "calls inside calls of any listener, as a flush or an eviction makes them: each lowers the rank, what is left "
        "of the budget; a call has as many steps, and a flush as many entries, as there were when it began",
        _of_calls(goes_deeper_within_it),
        UNCOUNTED,
    ),
    Lemma(
        Rule.K_FLUSH_9,
        "a flush under variant flushed_tombstone any-write, whatever a listener that closes nothing leaves of its "
        "namespace; an entry and the rest of its namespace as one",
        _drops,
        fault(Rule.K_FLUSH_9),
    ),
)
"""What holds of calls, however much is done in them."""
