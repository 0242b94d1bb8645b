"""What a changed reference makes of cases, beside the reference as it is: of the steps only that may be other ones.

A step that no probe of the change notes, from a state that is the same, is the same step; so it is not played again.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from entrycache_conformance.generate import Made
from entrycache_evidence.matrix.alike import are_alike
from entrycache_evidence.matrix.child import TooLong, within
from entrycache_evidence.matrix.probes import EVERYWHERE, Met, Probes
from entrycache_protocol.case import Case, to_json

SECONDS: Final = 0.5
"""What a case may take of a changed reference's own time; the reference took 0.17 s at most at seed 0."""

SECONDS_AT_ONCE: Final = 60.0
"""What all cases that are asked together may take; where they take more, the change counts as not seen in them."""


class Beside(NamedTuple):
    """A case with the reference's own steps; `met`: the places noted of its first state, then those of each step."""

    case: Case
    first: Any
    steps: Sequence[Any]
    met: Sequence[int]


def beside(made: Iterable[Made], probes: Probes) -> list[Beside]:
    """The cases with the places that are noted of their steps."""
    cases = list(made)
    with probes.listening() as met:
        return [_beside(one, met) for one in cases]


def _beside(made: Made, met: Met) -> Beside:
    model, config = made.case.system.model, made.case.config
    met.clear()
    state = first = model.initial(config)
    found = [_sum(met)]
    for op, done in zip(made.case.steps, made.steps, strict=True):
        met.clear()
        again = model.step(state, op, config)
        assert (again.outcome, again.state) == (done.outcome, done.state)  # what is asked twice changes nothing
        found.append(_sum(met))
        state = done.state
    return Beside(made.case, first, made.steps, found)


def _sum(met: Met) -> int:
    places = EVERYWHERE
    for place in met:
        places |= place
    return places


def is_seen(cases: Iterable[Beside], place: int, again: bool) -> bool:
    """Whether an outcome of the change that is in this process shows it, or an error, or a case that never ends.

    `again`: the modules of the reference were imported anew for it.
    """
    return _is_so(_played_again(cases) if again else (partial(_outcomes_differ, one, place) for one in cases))


def is_told(cases: Iterable[Beside], place: int) -> bool:
    """Whether the rows of a step show the change that is in this process, or its parts."""
    return _is_so(partial(_rows_differ, one, place) for one in cases)


def _is_so(asked: Iterable[Callable[[], bool]]) -> bool:
    end = time.process_time() + SECONDS_AT_ONCE
    try:
        for work in asked:
            if within(SECONDS, work):
                return True
            if time.process_time() > end:
                return False
    except (Exception, TooLong):
        return True
    return False


def _outcomes_differ(one: Beside, place: int) -> bool:
    return any(done.outcome != known.outcome for done, known in _steps(one, place))


def _rows_differ(one: Beside, place: int) -> bool:
    return any(_told(done) != _told(known) for done, known in _steps(one, place))


def _told(done: Any) -> Any:
    return done.rows, getattr(done, "parts", ())


def _steps(one: Beside, place: int) -> Iterator[tuple[Any, Any]]:
    """The steps that may be other ones, each beside the reference's."""
    model, config = one.case.system.model, one.case.config
    known_state = one.first
    state = model.initial(config) if one.met[0] & place else known_state
    for op, known, met in zip(one.case.steps, one.steps, one.met[1:], strict=True):
        if not met & place and are_alike(state, known_state):
            state = known_state = known.state
            continue
        done = model.step(state, op, config)
        yield done, known
        state, known_state = done.state, known.state


def _played_again(cases: Iterable[Beside]) -> Iterator[Callable[[], bool]]:
    """The cases whole, for modules that were imported anew, as these read and write them."""
    systems = importlib.import_module("entrycache_conformance.systems").SYSTEMS
    read = importlib.import_module("entrycache_protocol.case").from_json
    for one in cases:
        outcomes = [one.case.system.wire.write_outcome(done.outcome) for done in one.steps]
        yield partial(_answers_differ, read(to_json(one.case), systems), outcomes)


def _answers_differ(case: Any, outcomes: Sequence[Any]) -> bool:
    model, write = case.system.model, case.system.wire.write_outcome
    state = model.initial(case.config)
    for op, expected in zip(case.steps, outcomes, strict=True):
        done = model.step(state, op, case.config)
        if write(done.outcome) != expected:
            return True
        state = done.state
    return False
