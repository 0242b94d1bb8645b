"""The reference as a subject."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from entrycache_conformance.subjects.in_process import InProcess
from entrycache_conformance.system import SYSTEMS, System


def open_reference(system: System) -> Callable[[Any], Callable[[Any], Any]]:
    """Instances that step the reference of a system."""

    def open_instance(config: Any) -> Callable[[Any], Any]:
        state = system.initial(config)

        def answer(op: Any) -> Any:
            nonlocal state
            done = system.step(state, op, config)
            state = done.state
            return done.outcome

        return answer

    return open_instance


def reference(name: str = "pulsar-pip430") -> InProcess:
    """The reference of a system as a subject; it declares all that the system has."""
    system = SYSTEMS[name]
    offer = {
        "ops": list(system.ops),
        "introspection": sorted(system.introspection),
        "payload": "token" in {name for op in system.ops.values() for name in op.__slots__},
    }
    return InProcess("reference", open_reference(system), {name: offer})
