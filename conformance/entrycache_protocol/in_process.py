"""A subject in this process: a function that opens an instance, which is called step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from entrycache_protocol import threads
from entrycache_protocol.case import Case
from entrycache_protocol.declaration import Declaration, read_declaration
from entrycache_protocol.errors import EntrycacheError
from entrycache_protocol.history import History
from entrycache_protocol.subject import Answer, Failed, Happened, HistoryAnswer, Played, Skipped, Trouble
from entrycache_protocol.system import AnySystem, Instance, Own

Open = Callable[[Any], Instance]
"""From a configuration to an instance."""


class InProcess:
    """Our own caches and the reference itself, without a transport.

    `offer` is what a start answer says of the system; `open_shared` opens instances that several threads may call
    at once, where there are such.
    """

    def __init__(
        self,
        name: str,
        system: AnySystem,
        open_instance: Open,
        offer: dict[str, Any],
        open_shared: Open | None = None,
    ) -> None:
        self._name = name
        self._open = open_instance
        self._open_shared = open_shared
        implementation = {"name": name, "version": "0.1.0", "language": "Python", "source": "entrycache"}
        self.start_answer: dict[str, Any] = {
            "version": 1,
            "implementation": implementation,
            "systems": {system.name: offer},
        }
        self._declaration: Declaration = read_declaration(self.start_answer, {system.name: system})

    @property
    def name(self) -> str:
        """How reports call it."""
        return self._name

    @property
    def declaration(self) -> Declaration:
        """What the subject offers."""
        return self._declaration

    def open(self, config: Any) -> Callable[[Any], Any]:
        """A new, empty instance."""
        return self._open(config)

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        """The answers, one a case, in order."""
        return [self._play(case) for case in cases]

    def _play(self, case: Case) -> Answer:
        instance = self._open(case.config)
        outcomes = []
        for index, op in enumerate(case.steps):
            try:
                outcomes.append(instance(op))
            except EntrycacheError:
                raise
            except Exception as error:  # any error of an implementation is its answer
                return Failed(Trouble.ERRORED, index, f"{type(error).__name__}: {error}")
        return Played(tuple(outcomes), self.leaked(instance))

    def open_shared(self, config: Any) -> Callable[[Any], Any] | None:
        """A new, empty instance for several threads; None where there is no such."""
        return None if self._open_shared is None else self._open_shared(config)

    def play_histories(self, histories: Sequence[History]) -> list[HistoryAnswer]:
        """The answers, one a history, in order."""
        return [self._play_history(history) for history in histories]

    def _play_history(self, history: History) -> HistoryAnswer:
        instance = self.open_shared(history.config)
        if instance is None:
            return Skipped(f"{self._name} takes no histories")
        try:
            return Happened(threads.play(instance, tuple(history.parts())))
        except threads.StepFailed as error:
            return Failed(Trouble.ERRORED, None, str(error))

    def leaked(self, instance: Any) -> int | None:
        """The references that are left when a run has ended; None where nobody counts them."""
        count = getattr(instance, "leaked", None)
        return None if count is None or not self._declaration.leaks else int(count())

    def close(self) -> None:
        """Nothing to let go of."""


def own_subject(name: str, system: AnySystem, own: Own) -> InProcess:
    """A cache of ours as a subject of that name."""
    return InProcess(name, system, own.open, own.offer, own.open_shared)
