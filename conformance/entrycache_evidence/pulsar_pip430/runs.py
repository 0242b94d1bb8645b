"""Play short runs of `pulsar-pip430` in the tests of single rules.

`play` runs events on the reference, or on the model under test, reports the run to the rulebook, and returns a
`PlayedRun` record with the states and steps.
"""

from typing import Any, Final, NamedTuple

from entrycache_evidence.core.models import current_model, report_run
from entrycache_reference import pulsar_pip430, vocabulary
from entrycache_reference.pulsar_pip430 import NAME, Config, Row, State, Step, change, ops, state
from entrycache_reference.pulsar_pip430.outcomes import ErrorKind, Outcome, Refused

A: Final = vocabulary.CacheName("a")
B: Final = vocabulary.CacheName("b")
C: Final = vocabulary.CursorName("c")
D: Final = vocabulary.CursorName("d")
H: Final = vocabulary.HoldName("h")
REFUSED: Final = Refused(ErrorKind.ILLEGAL_ARGUMENT)


def at(entry: int, ledger: int = 1) -> vocabulary.Position:
    """Return a position, most often in ledger 1."""
    return vocabulary.Position(ledger, entry)


class PlayedRun(NamedTuple):
    """A run: its states, the initial one first, and the steps between them."""

    states: tuple[State, ...]
    steps: tuple[Step, ...]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The answers, one for each step."""
        return tuple(done.outcome for done in self.steps)

    @property
    def last(self) -> Outcome:
        """The answer of the last step."""
        return self.steps[-1].outcome

    @property
    def before(self) -> State:
        """The state before the last step."""
        return self.states[-2]

    @property
    def after(self) -> State:
        """The state after the last step."""
        return self.states[-1]

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the last step."""
        return self.steps[-1].rows

    def entry(self, entry: int, cache: vocabulary.CacheName = A, ledger: int = 1) -> state.Entry:
        """Return the entry at a position, which must be cached."""
        cached_entry = self.find(entry, cache, ledger)
        assert cached_entry is not None, f"no entry at {ledger}:{entry} of {cache} in {self.after}"
        return cached_entry

    def find(self, entry: int, cache: vocabulary.CacheName = A, ledger: int = 1) -> state.Entry | None:
        """Return the entry at a position, or None."""
        return change.entry_at(self.after, cache, at(entry, ledger))

    def queue(self) -> list[int | None]:
        """Return the entry numbers of the removal queue from head to tail; None is a dead slot."""
        return [None if slot is None else slot.pos.entry for slot in self.after.queue]


def play(*events: ops.Op, **config: Any) -> PlayedRun:
    """Play these events on the reference or the model under test; keywords change the configuration."""
    settings = Config(**config)
    report_run(NAME, settings, events)
    played = current_model() or pulsar_pip430
    states = [played.initial(settings)]
    steps: list[Step] = []
    for event in events:
        steps.append(played.step(states[-1], event, settings))
        states.append(steps[-1].state)
    return PlayedRun(tuple(states), tuple(steps))
