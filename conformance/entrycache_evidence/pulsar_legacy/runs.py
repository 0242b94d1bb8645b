"""Play short runs of `pulsar-legacy` in the tests of single rules.

`play` runs events on the reference, or on the model under test, reports the run to the rulebook, and returns a
`PlayedRun` record with the states and steps.
"""

from typing import Any, Final, NamedTuple

from entrycache_evidence.core.models import current_model, report_run
from entrycache_reference import pulsar_legacy, vocabulary
from entrycache_reference.pulsar_legacy import NAME, Config, State, Step, ops

A: Final = vocabulary.CacheName("a")
B: Final = vocabulary.CacheName("b")
REFUSED: Final = ops.Refused(ops.ErrorKind.ILLEGAL_ARGUMENT)


def at(entry: int, ledger: int = 1) -> vocabulary.Position:
    """Return a position, most often in ledger 1."""
    return vocabulary.Position(ledger, entry)


def build_inserts(cache: vocabulary.CacheName, *sizes: int) -> list[ops.Insert]:
    """Build inserts of entries of these sizes, from 1:0 on."""
    return [ops.Insert(cache, at(entry), size) for entry, size in enumerate(sizes)]


class PlayedRun(NamedTuple):
    """A run: its states, the initial one first, and the steps between them."""

    states: tuple[State, ...]
    steps: tuple[Step, ...]

    @property
    def last(self) -> ops.Outcome:
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

    def held(self, cache: vocabulary.CacheName = A) -> list[int]:
        """Return the entry numbers in a cache, ascending."""
        contents = self.after.caches.get(cache)
        return [] if contents is None else [pos.entry for pos in sorted(contents.entries)]


def play(*events: ops.Op, **config: Any) -> PlayedRun:
    """Play these events on the reference or the model under test; keywords change the configuration."""
    settings = Config(**config)
    report_run(NAME, settings, events)
    played = current_model() or pulsar_legacy
    states = [played.initial(settings)]
    steps: list[Step] = []
    for event in events:
        steps.append(played.step(states[-1], event, settings))
        states.append(steps[-1].state)
    return PlayedRun(tuple(states), tuple(steps))
