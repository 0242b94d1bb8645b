"""The reference as a subject."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_protocol.in_process import InProcess, Open
from entrycache_protocol.system import AnyModel, AnySystem, Instance

REFERENCE: Final = "reference"
"""What the reference is called as a subject."""

THREADS: Final = 8
"""The most clients of a history that our own caches take."""


def open_reference(model: AnyModel) -> Callable[[Any], Instance]:
    """Instances that step a reference, or a model of it with a planted fault."""

    def open_instance(config: Any) -> Instance:
        state = model.initial(config)

        def answer(op: Any) -> Any:
            nonlocal state
            done = model.step(state, op, config)
            state = done.state
            return done.outcome

        return answer

    return open_instance


def offer_of(system: AnySystem) -> dict[str, Any]:
    """What the reference of a system offers: all that the system has."""
    return {
        "ops": list(system.ops),
        "introspection": sorted(system.wire.introspection),
        "payload": has_payload(system),
        **({} if system.histories is None else {"limits": {"threads": THREADS}}),
    }


def has_payload(system: AnySystem) -> bool:
    """Whether entries of the system carry a token."""
    return "token" in {name for op in system.ops.values() for name in op.__slots__}


def reference(system: AnySystem, called: str = REFERENCE, open_shared: Open | None = None) -> InProcess:
    """The reference of a system as a subject.

    `open_shared`: how it is opened for several threads, where that is not the way of the system.
    """
    shared = None if system.histories is None else system.histories.open_shared
    return InProcess(called, system, open_reference(system.model), offer_of(system), open_shared or shared)
