"""The systems whose traces are audited, each with its parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

from entrycache_spark.parts import AuditParts

_MODULES: Final = {
    "pulsar_pip430": "entrycache_spark.pulsar_pip430.parts",
    "kafka_streams": "entrycache_spark.kafka_streams.parts",
    "pulsar_legacy": "entrycache_spark.pulsar_legacy.parts",
    "pulsar_segmented": "entrycache_spark.pulsar_segmented.parts",
}
"""The module that describes the audit of each system."""


class AuditedSystems(Mapping[str, AuditParts]):
    """The audits by the names of their systems, each imported when it is asked for."""

    def __getitem__(self, system: str) -> AuditParts:
        name = system.replace("-", "_")
        if name not in _MODULES or name == system:
            raise KeyError(system)
        found: AuditParts = import_module(_MODULES[name]).AUDIT
        return found

    def __contains__(self, system: object) -> bool:
        return system in tuple(self)

    def __iter__(self) -> Iterator[str]:
        return (name.replace("_", "-") for name in _MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


AUDITED: Final = AuditedSystems()


def parts_of(system: str) -> AuditParts:
    """The parts of a system; those of the first one where the system is not audited."""
    return AUDITED.get(system, next(iter(AUDITED.values())))
