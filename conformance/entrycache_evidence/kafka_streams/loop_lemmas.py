"""Lemmas about the loops and the calls of `kafka-streams`.

A turn of the loop of `maybe_evict` or `resize` is run on any state: the oldest entry, and `rest`, which stands for all
others. The state is recorded where the loop requests the total; there any number of turns may have been made before, so
what the loop counts becomes any number. The turn that would take `rest` is not run. In the
lemmas about calls, any step stands in place of the steps inside a call, so the claim is an induction over the depth of
calls.
"""

import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from types import FrameType
from typing import Any, Final, NamedTuple

import z3

from entrycache_evidence.induction.lemma import Lemma, LemmaFault, Obligation, build_term_model
from entrycache_evidence.induction.symbolic import Term, paths, raw
from entrycache_evidence.induction.turns import Unknown, any_tuple, counting_replaced, forget_counts
from entrycache_evidence.kafka_streams import runs, size_lemmas
from entrycache_faults.model import Model
from entrycache_reference.kafka_streams import flush, ops, outcomes
from entrycache_reference.kafka_streams.change import NamespaceHandle
from entrycache_reference.kafka_streams.config import Config, Total, Variants
from entrycache_reference.kafka_streams.state import (
    Change,
    Listener,
    Node,
    Space,
    State,
    StepInProgress,
    total_bytes,
    with_space,
)
from entrycache_reference.rules import Rule

_EVICTS: Final = z3.Int("evicts")


class Run(NamedTuple):
    """The states at which the loop requested the total, and its result; None if it went on.

    `problem` says what the loop asked that has no answer at any turn.
    """

    states: tuple[State, ...]
    end: Change | None
    problem: str = ""


class _Enough(Exception):
    """A signal that the requested turns have been made."""


class _TotalRecorder:
    """A recorder of the states at which the total is requested."""

    def __init__(self) -> None:
        self.states: list[State] = []
        self.most = 0

    def limited(self, state: State, config: Config) -> int:
        """Return the exact total, as `maybe_evict` requests it."""
        return self._noted(state, sys._getframe(1))

    def total(self, state: State) -> int:
        """Return the exact total, as `resize` requests it."""
        return self._noted(state, sys._getframe(1))

    def _noted(self, state: State, loop: FrameType) -> int:
        if not self.states:
            forget_counts(loop, VARIABLES)
        self.states.append(state)
        total = total_bytes(state)
        if len(self.states) > self.most and total >= state.max_size_bytes:
            raise _Enough
        return total

    def run(self, most: int, work: Callable[[], Change]) -> Run:
        """Run a loop that requests the total at most this often."""
        self.states, self.most = [], most
        try:
            end = work()
        except _Enough:
            return Run(tuple(self.states), None)
        except Unknown as error:
            return Run(tuple(self.states), None, str(error))
        return Run(tuple(self.states), end)


_RECORDER: Final = _TotalRecorder()
VARIABLES: Final = frozenset({"state", "event", "config", "env", "ns", "after", "handle", "change", "settled"})
"""The variables of both loops; none of them counts turns."""


@cache
def _eviction_paths(model: Model, held: size_lemmas.CacheContents) -> tuple[tuple[Any, Run], ...]:
    replaced = {**counting_replaced("entries"), "change.limited_bytes": _RECORDER.limited}
    term_model = build_term_model(model, replaced)
    state = size_lemmas.build_cache(held)._replace(evicts=Term(_EVICTS))  # type: ignore[arg-type]
    env: flush.Environment = term_model["step.build_environment"]()
    return tuple(
        paths(
            lambda: _RECORDER.run(1, lambda: term_model["entries.maybe_evict"](state, "a", Config(), env)),
            size_lemmas.SIZES,
        )
    )


Claim = Callable[[Run], Any]


def turn_obligations(claim: Claim) -> Callable[[Any, Model], Iterator[Obligation]]:
    """Build the obligations of a claim about every path of a turn of `maybe_evict`.

    Each claim includes that the loop ends rightly: a bound on its turns would make it claim too little.
    """

    def obligations(table: Any, model: Model) -> Iterator[Obligation]:
        for held in size_lemmas.ALL_CONTENTS:
            said = []
            for condition, run in _eviction_paths(model, held):
                for further, answer in paths(lambda: claim(run), z3.And(size_lemmas.SIZES, condition)):  # noqa: B023
                    rightly = z3.And(answer, ends_rightly(run))
                    said.append(z3.Implies(z3.And(condition, further), rightly))
            yield Obligation(str(held), size_lemmas.SIZES, z3.And(said))

    return obligations


def _total(state: State) -> Any:
    return raw(total_bytes(state))


def ends_rightly(run: Run) -> Any:
    """Claim that the loop ends within the limit, with nothing left in its namespace, or failing."""
    if run.problem or run.end is None or run.end.error is not None:
        return z3.BoolVal(not run.problem)
    left = run.end.state
    return z3.Or(z3.BoolVal(not left.spaces["a"].nodes), _total(left) <= size_lemmas.LIMIT)


def pays(run: Run) -> Any:
    """Claim that a turn takes from its own namespace."""
    said = []
    for before, after in zip(run.states, run.states[1:], strict=False):
        gone = before.spaces["a"].nodes.keys() - after.spaces["a"].nodes.keys()
        freed = sum((raw(before.spaces["a"].nodes[key].size_bytes) for key in gone), z3.IntVal(0))
        said += [z3.BoolVal("x" in gone), _total(after) == _total(before) - freed]
    for state in (*run.states, *([] if run.end is None else [run.end.state])):
        said += [
            raw(state.spaces["b"].nodes["all"].size_bytes) == size_lemmas.OTHER_SPACE,
            raw(state.max_size_bytes) == size_lemmas.LIMIT,
        ]
    return z3.And(said)


def spares(run: Run) -> Any:
    """Claim that a turn begins only above the limit."""
    turn_starts = run.states[:-1] if run.end is None or run.end.error is None else run.states
    return z3.And([_total(state) > size_lemmas.LIMIT for state in turn_starts])


def counts(run: Run) -> Any:
    """Claim that each successful turn is counted, and nothing else."""
    said = [raw(state.evicts) == _EVICTS + at for at, state in enumerate(run.states)]
    if run.end is not None:
        said.append(raw(run.end.state.evicts) == raw(run.states[-1].evicts))
    return z3.And(said)


def empties(run: Run) -> Any:
    """Claim that each turn leaves fewer entries in the namespace."""
    return all(
        len(after.spaces["a"].nodes) < len(before.spaces["a"].nodes)
        for before, after in zip(run.states, run.states[1:], strict=False)
    )


SPACES: Final = {"both": (False, False), "nothing in the first": (True, False), "nothing in the second": (False, True)}


def _rounds(table: Any, model: Model) -> Iterator[Obligation]:
    """Prove that a round of `resize` over two namespaces leaves fewer entries, or ends within the limit or failing."""
    replaced = {**counting_replaced("namespaces"), "namespaces.total_bytes": _RECORDER.total}
    term_model = build_term_model(model, replaced)
    lower: Any = Term(z3.Int("lower"))
    for held in size_lemmas.ALL_CONTENTS:
        for name, (first, second) in SPACES.items():
            state = size_lemmas.build_cache(held)
            emptied = {ns: Space() for ns, is_empty in zip("ab", (first, second), strict=True) if is_empty}
            state = state._replace(spaces={**state.spaces, **emptied})

            def work(state: State = state) -> Change:
                after, answer = term_model["step.perform"](state, ops.Resize(lower), Config())
                return Change(after, getattr(answer, "error", None))

            # The total is requested at the head of the loop, twice in a round, and at the head again.
            given = z3.And(size_lemmas.SIZES, lower.term >= 0, lower.term < size_lemmas.LIMIT)
            said = []
            for condition, run in paths(lambda: _RECORDER.run(3, work), given):
                said.append(z3.Implies(condition, _goes_on(run) if run.end is None else _within(run.end)))
            yield Obligation(f"{name}, {held}", given, z3.And(said))


def _entries(state: State) -> int:
    return sum(len(space.nodes) for space in state.spaces.values())


def _goes_on(run: Run) -> Any:
    is_lower = len(run.states) < 4 or _entries(run.states[3]) < _entries(run.states[0])
    return z3.BoolVal(is_lower and not run.problem)


def _within(end: Change) -> Any:
    return z3.Or(z3.BoolVal(end.error is not None), _total(end.state) <= raw(end.state.max_size_bytes))


class _AnyTurns:
    """The turns of `shrink_running`: it is the turn of "a", after any number of turns; the next turn is not run."""

    def __init__(self, state: State) -> None:
        self.has_turned = False

    def next(self, state: State) -> NamespaceHandle:
        """Return the namespace that pays now, and forget what the loop counted before."""
        if self.has_turned:
            raise _Enough
        self.has_turned = True
        forget_counts(sys._getframe(1), _OF_TURNS)
        return NamespaceHandle("a", 0)


_OF_TURNS: Final = frozenset({"state", "config", "env", "after", "turns", "handle", "change"})
"""The variables of `shrink_running`; none of them counts turns."""


def _turns_end(table: Any, model: Model) -> Iterator[Obligation]:
    """Prove that `shrink_running` ends within the limit, failing, or where no turn can take anything."""
    config = Config(1000, variants=Variants(total=Total.RUNNING))
    term_model = build_term_model(model, {**counting_replaced("flush"), "flush.Turns": _AnyTurns})
    running: Any = Term(z3.Int("running"))
    for held in size_lemmas.ALL_CONTENTS:
        for name, (first, second) in {**SPACES, "nothing": (True, True)}.items():
            state = size_lemmas.build_cache(held)
            emptied = {ns: Space() for ns, is_empty in zip("ab", (first, second), strict=True) if is_empty}
            state = state._replace(spaces={**state.spaces, **emptied}, running=running)
            said = [z3.Implies(condition, right) for condition, right in _ends_of_turns(term_model, state, config)]
            yield Obligation(f"{name}, {held}", size_lemmas.SIZES, z3.And(said))


def _ends_of_turns(term_model: Any, state: State, config: Config) -> Iterator[tuple[Any, Any]]:
    """Yield each path of the loop, with the question whether it ends rightly; a loop that goes on does."""

    def work() -> Any:
        env = term_model["step.build_environment"]()
        try:
            return term_model["flush.shrink_running"](state, config, env)
        except _Enough:
            return None
        except Unknown:
            return Unknown

    for condition, end in paths(work, size_lemmas.SIZES):
        if end is None or end is Unknown:
            yield condition, z3.BoolVal(end is None)
            continue
        after, answer = end
        is_stuck = bool(after.in_progress.no_answer_reason) and not any(one.recent for one in after.spaces.values())
        is_over = z3.BoolVal(is_stuck or getattr(answer, "error", None) is not None)
        yield condition, z3.Or(is_over, raw(after.running) <= raw(after.max_size_bytes))


def _shrink_once(state: State, config: Config, env: flush.Environment) -> tuple[State, outcomes.Answer]:
    """Evict one entry of the first namespace."""
    return flush.evict_eldest(state, min(state.spaces), config, env).state, outcomes.Done()


def _evict_nothing(state: State, ns: str, config: Config, env: flush.Environment) -> Change:
    return Change(state)


FOREVER: Final = LemmaFault(
    "An eviction leaves its entry.",
    Model(size_lemmas.lemma_fault(Rule.K_EVICT_4).model.package, {"flush.evict_eldest": _evict_nothing}),
)
LOOP: Final = "the loop of maybe_evict, any number of turns: the eldest, the rest of its namespace as one, another one"
EVICTIONS: Final = "entries.maybe_evict"
ROUNDS: Final = "namespaces.resize"

SHRINK_ONCE: Final = LemmaFault(
    "A lower limit of a running total evicts one entry.",
    Model(size_lemmas.lemma_fault(Rule.K_EVICT_4).model.package, {"flush.shrink_running": _shrink_once}),
)

LOOP_LEMMAS: Final = (
    Lemma(
        Rule.K_EVICT_4,
        f"{LOOP}; who pays, and where it ends",
        turn_obligations(pays),
        size_lemmas.lemma_fault(Rule.K_EVICT_4),
        loop=EVICTIONS,
    ),
    Lemma(
        Rule.K_EVICT_5,
        f"{LOOP}; a turn begins only above the limit",
        turn_obligations(spares),
        size_lemmas.lemma_fault(Rule.K_EVICT_5),
        loop=EVICTIONS,
    ),
    Lemma(
        Rule.K_EVICT_6,
        f"{LOOP}; each turn is counted",
        turn_obligations(counts),
        size_lemmas.lemma_fault(Rule.K_EVICT_6),
        loop=EVICTIONS,
    ),
    Lemma(
        Rule.K_LIVENESS_1,
        f"{LOOP}; each turn lowers the rank, the number of entries of the namespace; a listener that performs nothing",
        turn_obligations(empties),
        FOREVER,
        loop=EVICTIONS,
    ),
    Lemma(
        Rule.K_RESIZE_2,
        "a round of the loop of resize over two namespaces, each an entry and the rest as one or empty, lowers the "
        "rank, the number of all entries; the loop ends within the limit; a listener that performs nothing",
        _rounds,
        FOREVER,
        loop=ROUNDS,
    ),
    Lemma(
        Rule.K_RESIZE_2,
        "the loop of resize over a running total, any number of turns, each of a namespace of an entry and the rest as "
        "one or empty, ends within the limit, failing, or where nothing is left; a listener that performs nothing",
        _turns_end,
        SHRINK_ONCE,
        loop="flush.shrink_running",
    ),
)
"""The lemmas about the loops, over any number of entries."""


# --- Calls of listeners

CALLED, BUDGET = z3.Ints("called budget")
STEPS: Final = any_tuple(
    (ops.Get("a", "x"), ops.Flush("a"), ops.Usage()), "state steps config env after answers op before answer part"
)
_ANY: Final = Config(1000, reentry_budget=Term(BUDGET))  # type: ignore[arg-type]


class Inside(NamedTuple):
    """A step inside a call: the number of calls before it, and the number of calls that it made."""

    called: Any
    more: Any


def _calls_so_far(state: State) -> Any:
    return raw(state.in_progress.called)


def _state_in_calls() -> State:
    """Return a state in which any number of calls have begun."""
    return State(1000, in_progress=StepInProgress(called=Term(CALLED)))  # type: ignore[arg-type]


class _AnyStep:
    """A stand-in for any step inside a call: it may make any number of further calls."""

    def __init__(self) -> None:
        self.steps_inside: list[Inside] = []

    def __call__(self, state: State, op: ops.Op, config: Config) -> tuple[State, outcomes.Done]:
        more = z3.Int(f"calls inside step {len(self.steps_inside)}")
        self.steps_inside.append(Inside(_calls_so_far(state), more))
        called: Any = Term(_calls_so_far(state) + more)
        return state._replace(in_progress=state.in_progress._replace(called=called)), outcomes.Done()


class Call(NamedTuple):
    """One call of a listener: its steps, the state after it, and its answers."""

    inside: tuple[Inside, ...]
    after: State
    answers: tuple[Any, ...]


def _calls(model: Model) -> list[tuple[Any, Call]]:
    def one() -> Call:
        performing = _AnyStep()
        env = flush.Environment(performing, model["stores.receive"])
        term_model = build_term_model(model, counting_replaced("flush"))
        try:
            after, answers = term_model["flush.perform_steps"](_state_in_calls(), STEPS, _ANY, env)
        except Unknown:
            return Call((), _state_in_calls(), ())
        return Call(tuple(performing.steps_inside), after, answers)

    return paths(one)


def _call_obligations(claim: Callable[[Call], Any]) -> Callable[[Any, Model], Iterator[Obligation]]:
    def obligations(table: Any, model: Model) -> Iterator[Obligation]:
        inner = [z3.Int(f"calls inside step {at}") >= 0 for at in range(len(STEPS))]
        given = z3.And(CALLED >= 0, BUDGET >= 0, *inner)
        said = [z3.Implies(condition, claim(call)) for condition, call in _calls(model)]
        yield Obligation("a call, after any number of calls", given, z3.And(said))

    return obligations


def keeps_to_the_budget(call: Call) -> Any:
    """Claim that a call has the next number, and performs its steps only within the budget."""
    number = CALLED + 1
    calls_inside = z3.Sum(z3.IntVal(0), *(one.more for one in call.inside))
    performed = z3.If(number <= BUDGET, len(call.inside) == len(STEPS), len(call.inside) == 0)
    is_answered = z3.BoolVal(len(call.answers) == len(call.inside))
    return z3.And(performed, is_answered, _calls_so_far(call.after) == number + calls_inside)


def goes_deeper_within_it(call: Call) -> Any:
    """Claim that each step inside a call has a lower rank than the step that made the call."""
    return z3.And(z3.BoolVal(True), *(_rank(one.called) < _rank(CALLED) for one in call.inside))


def _rank(called: Any) -> Any:
    """Return the number of calls that may still perform steps; it is never negative."""
    return z3.If(called < BUDGET, BUDGET - called, 0)


def _uncounted_call(state: State) -> State:
    return state


UNCOUNTED: Final = LemmaFault(
    "A call that performs steps is not counted.",
    Model(size_lemmas.lemma_fault(Rule.K_LISTEN_3).model.package, {"flush.count_call": _uncounted_call}),
)

LATER_VALUES: Final = ("1", None)
_LATER: Final = z3.Int("a later write")


def _later_write(value: str | None, dirty: bool) -> Node:
    return size_lemmas.build_node(value, dirty, z3.Int("size of a later write"), 5)._replace(write=Term(_LATER))  # type: ignore[arg-type]


def _state_after_call(state: State, which: int) -> State:
    """Return a state that a call may leave: the two keys removed, written again, or unchanged."""
    space = state.spaces["a"]
    later = {key: _later_write(*way) for key, way in zip(("x", "rest"), _CONTENTS[which], strict=True) if way}
    if which == len(_CONTENTS) - 1:
        return state
    recent = tuple(later)
    dirty = tuple(key for key, node in later.items() if node.is_dirty)
    return with_space(state, "a", space._replace(nodes=later, recent=recent, dirty=dirty))


_CONTENTS_OF_KEY: Final = (None, *product(LATER_VALUES, (False, True)))
_CONTENTS: Final = (*product(_CONTENTS_OF_KEY, _CONTENTS_OF_KEY), (None, None))
"""The possible contents of both keys after a call; the last entry stands for unchanged ones."""


def _drop_obligations(table: Any, model: Model) -> Iterator[Obligation]:
    """Prove K-FLUSH-9 after any call: no key of a flushed tombstone is left."""
    config = Config(1000, variants=runs.RELEASED)
    for held in _flushed_tombstones():
        for which in range(len(_CONTENTS)):

            def called(state: State, *rest: Any, which: int = which) -> State:
                return _state_after_call(state, which)

            term_model = build_term_model(model, {"flush.call_listener": called})
            pre = size_lemmas.build_cache(held)
            ways = paths(lambda: term_model["step.perform"](pre, ops.Flush("a"), config)[0], size_lemmas.SIZES)  # noqa: B023
            gone = [key for key in pre.spaces["a"].dirty if pre.spaces["a"].nodes[key].value is None]
            said = [
                z3.Implies(condition, z3.BoolVal(not any(key in after.spaces["a"].nodes for key in gone)))
                for condition, after in ways
            ]
            yield Obligation(f"{held}, {_CONTENTS[which]}", size_lemmas.SIZES, z3.And(said))


def _flushed_tombstones() -> list[size_lemmas.CacheContents]:
    return [
        held for held in size_lemmas.ALL_CONTENTS if held.listener == Listener() and held.value is None and held.dirty
    ]


CALL_LEMMAS: Final = (
    Lemma(
        Rule.K_LISTEN_3,
        "any call, after any number of calls, under any budget, whatever calls the steps inside it make: it has the "
        "next number, and performs its steps just where that is within the budget",
        _call_obligations(keeps_to_the_budget),
        size_lemmas.lemma_fault(Rule.K_LISTEN_3),
        loop="flush.perform_steps",
    ),
    Lemma(
        Rule.K_LIVENESS_1,
        "calls inside calls of any listener, as a flush or an eviction makes them: each lowers the rank, what is left "
        "of the budget; a call has as many steps, and a flush as many entries, as there were when it began",
        _call_obligations(goes_deeper_within_it),
        UNCOUNTED,
    ),
    Lemma(
        Rule.K_FLUSH_9,
        "a flush under variant flushed_tombstone any-write, whatever a listener that closes nothing leaves of its "
        "namespace; an entry and the rest of its namespace as one",
        _drop_obligations,
        size_lemmas.lemma_fault(Rule.K_FLUSH_9),
    ),
)
"""The lemmas about calls, for any steps inside them."""

LEMMAS: Final = (*LOOP_LEMMAS, *CALL_LEMMAS)
"""All lemmas about loops and calls."""
