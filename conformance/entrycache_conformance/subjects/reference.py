"""The reference as a subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from entrycache_conformance.subjects.in_process import InProcess, Open
from entrycache_faults.model import Model
from entrycache_protocol.system import SYSTEMS, System
from entrycache_reference import kafka_streams
from entrycache_reference.kafka_streams.threads import shared

THREADS: Final = 8
"""The most clients of a history that our own caches take."""


def _shared_streams(config: Any) -> Callable[[Any], Any]:
    return shared.Shared(config)


SHARED: Final[Mapping[str, Open]] = {kafka_streams.NAME: _shared_streams}
"""How the reference of a system is opened for several threads."""


def open_reference(played: System | Model) -> Callable[[Any], Callable[[Any], Any]]:
    """Instances that step the reference of a system, or a model of it."""

    def open_instance(config: Any) -> Callable[[Any], Any]:
        state = played.initial(config)

        def answer(op: Any) -> Any:
            nonlocal state
            done = played.step(state, op, config)
            state = done.state
            return done.outcome

        return answer

    return open_instance


def reference(name: str = "pulsar-pip430", called: str = "reference", opened_shared: Open | None = None) -> InProcess:
    """The reference of a system as a subject; it declares all that the system has.

    `opened_shared`: how it is opened for several threads, where that is not the way of the system.
    """
    system = SYSTEMS[name]
    offer = {
        "ops": list(system.ops),
        "introspection": sorted(system.introspection),
        "payload": "token" in {name for op in system.ops.values() for name in op.__slots__},
        **({"limits": {"threads": THREADS}} if name in SHARED else {}),
    }
    return InProcess(called, open_reference(system), {name: offer}, opened_shared or SHARED.get(name))
