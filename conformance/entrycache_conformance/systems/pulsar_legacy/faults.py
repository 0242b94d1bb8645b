"""The seeded faults of the reference as subjects."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from entrycache_conformance.systems.reference import open_reference
from entrycache_faults.reference.pulsar_legacy import FAULTS as PLANTED
from entrycache_faults.seeded import Fault
from entrycache_protocol.system import Instance, LocalSubject
from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.config import Config

OFFER: Final[dict[str, Any]] = {
    "ops": [op.name for op in ops.OPS],
    "introspection": ["now", "bytes", "caches"],
    "payload": True,
}
"""All that the reference has."""


def open_faulty(config: Config, fault: Fault) -> Instance:
    """An empty instance of the reference with that fault."""
    opened: Callable[[Any], Instance] = open_reference(fault.model)
    return opened(config)


FAULTS: Final = {name: LocalSubject(OFFER, partial(open_faulty, fault=fault)) for name, fault in PLANTED.items()}
"""By name."""
