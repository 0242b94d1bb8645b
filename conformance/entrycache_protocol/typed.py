"""A typed subject of this process over the protocol: steps and outcomes as the dataclasses of its system."""

from __future__ import annotations

from typing import Any

from entrycache_protocol.codec import decode_object, decode_op, encode
from entrycache_protocol.in_process import InProcess


class Typed:
    """Our own caches and the reference, as the loop wants who answers."""

    def __init__(self, subject: InProcess) -> None:
        self._subject = subject
        self._system = subject.declaration.system
        self.start_answer: dict[str, Any] = encode(subject.start_answer)

    def open(self, config: Any) -> Any:
        """A new, empty instance."""
        return self._subject.open(decode_object(self._system.model.config, config))

    def open_shared(self, config: Any) -> Any | None:
        """A new, empty instance for several threads; None where there is no such."""
        return self._subject.open_shared(decode_object(self._system.model.config, config))

    def read(self, step: Any) -> Any:
        """The operation of a step."""
        return decode_op(self._system.ops, step)

    def perform(self, instance: Any, step: Any) -> Any:
        """One operation on an instance; its outcome."""
        return instance(step)

    def write(self, outcome: Any) -> Any:
        """An outcome as JSON."""
        return self._system.wire.write_outcome(outcome)

    def leaked(self, instance: Any) -> int | None:
        """The references that are left when a run has ended; None where nobody counts them."""
        return self._subject.leaked(instance)
