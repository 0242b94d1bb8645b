"""What the planted faults of a rule make of its example."""

from __future__ import annotations

from threading import Thread
from typing import Any, Final, NamedTuple

from entrycache_conformance.concurrent.level import promises_of
from entrycache_conformance.subjects.reference import reference
from entrycache_evidence.planted import OTHERS, OWN
from entrycache_evidence.rulebook.example import Example
from entrycache_faults.planted import Fault
from entrycache_protocol import threads
from entrycache_protocol.case import Case
from entrycache_protocol.history import History
from entrycache_protocol.subject import Event, Happened
from entrycache_protocol.system import AnyModel
from entrycache_reference.judged import Judged
from entrycache_reference.rules import Rule

FAULTS: Final = (*OWN, *OTHERS)
"""The planted faults of the reference, first the one that each rule has."""

TRIES: Final = 50
"""How often a history is played on a faulty reference: the threads of a fault that give way meet in the first few."""

PATIENCE_SECONDS: Final = 2.0
"""What a history without end is waited for; one that ends takes a few milliseconds."""


class Told(NamedTuple):
    """One step as it was answered: the JSON of its outcome (of a step that throws, what it threw), and its rows."""

    outcome: dict[str, Any]
    rows: Any


class Seen(NamedTuple):
    """Where a fault shows: the step, its right and its wrong answer; two equal ones differ in their rows."""

    fault: Fault
    at: int
    right: dict[str, Any]
    wrong: dict[str, Any]

    @property
    def in_rows(self) -> bool:
        """Whether only the rows of the step differ."""
        return self.right == self.wrong


def faults_of(rule: Rule) -> tuple[Fault, ...]:
    """The planted faults of a rule."""
    return tuple(fault for fault in FAULTS if fault.rule is rule)


def told(case: Case, model: AnyModel) -> list[Told]:
    """The steps of a model through a case, up to the first that throws."""
    state = model.initial(case.config)
    steps = []
    for op in case.steps:
        try:
            done = model.step(state, op, case.config)
        except Exception as error:  # any error of a faulty reference is its answer
            steps.append(Told({"throws": type(error).__name__}, ()))
            break
        steps.append(Told(case.system.wire.write_outcome(done.outcome), done.rows))
        state = done.state
    return steps


def told_by(fault: Fault, case: Case) -> list[Told]:
    """The same where the reference has this fault."""
    return told(case, fault.model)


def opened_by(fault: Fault, history: History) -> Any:
    """The reference for several threads where it has this fault."""
    opened: Any = promises_of(history.system).open_shared
    place = f"{opened.__module__.removeprefix(fault.package + '.')}.{opened.__name__}"
    return fault.model[place](history.config)


def events_by(fault: Fault, history: History) -> tuple[Event, ...] | None:
    """The events of a history where the reference has this fault; None: it does not end."""
    events: list[Event] = []
    instance = opened_by(fault, history)
    playing = Thread(target=lambda: events.extend(threads.play(instance, tuple(history.parts()))), daemon=True)
    playing.start()
    playing.join(PATIENCE_SECONDS)
    return None if playing.is_alive() else tuple(events)


def first_seen(example: Example) -> Seen | None:
    """The first fault of the rule that answers a step of its example's case otherwise, if none then one in rows."""
    if isinstance(example.asked, History):
        return None
    right = told(example.asked, example.asked.system.model)
    in_rows = None
    for fault in faults_of(example.rule):
        pairs = list(enumerate(zip(right, told_by(fault, example.asked), strict=False)))
        for at, (expected, got) in pairs:
            if expected.outcome != got.outcome:
                return Seen(fault, at, expected.outcome, got.outcome)
        for at, (expected, got) in pairs:
            if expected.rows != got.rows and in_rows is None:
                in_rows = Seen(fault, at, expected.outcome, got.outcome)
    return in_rows


def is_refused(fault: Fault, history: History) -> bool:
    """Whether a history breaks the rule of this fault when the faulty reference plays it."""
    ends = promises_of(history.system).ends
    for _ in range(TRIES):
        events = events_by(fault, history)
        if fault.rule in ({ends} if events is None else broken(history, events)):
            return True
    return False


def broken(history: History, events: tuple[Event, ...]) -> set[Rule]:
    """The promises that these events break."""
    return {rule for rule, _ in _judged(history, events).broken}


def asked_for(history: History, events: tuple[Event, ...]) -> frozenset[Rule]:
    """The promises that these events were held to."""
    return _judged(history, events).fired


def _judged(history: History, events: tuple[Event, ...]) -> Judged:
    judged: Judged = promises_of(history.system).judge(history, Happened(events), reference(history.system).declaration)
    return judged
