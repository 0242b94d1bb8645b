"""The systems that are built, one folder each; this is the only list of them.

`SYSTEMS` maps the name of a system to its record (`entrycache_protocol.system.System`). A system is imported when it is
first looked up, so a command on one system imports only that one. `BUILT` therefore says what must be known of a system
before it is imported: where its record is, the families of released jars that implement it, and the prefixes of its
seeded faults. A name that several systems have means the first of them.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final, NamedTuple

from entrycache_protocol import system
from entrycache_protocol.system import AnySystem


class BuiltSystem(NamedTuple):
    """The facts about a system that are known before it is imported.

    `families` maps the folders of its released jars to the name before the colon of their subjects. Without
    `fault_prefixes` its seeded faults may have any name that is not another system's.
    """

    package: str
    families: Mapping[str, str] = {}
    fault_prefixes: tuple[str, ...] = ()


BUILT: Final[Mapping[str, BuiltSystem]] = {
    "pulsar-pip430": BuiltSystem("pulsar_pip430", {"pulsar": "pulsar"}),
    "kafka-streams": BuiltSystem("kafka_streams", {"kafka-streams": "kafka-streams"}, ("streams-", "threads-")),
    "pulsar-legacy": BuiltSystem("pulsar_legacy", {"pulsar-legacy": "pulsar"}, ("legacy-",)),
    "pulsar-segmented": BuiltSystem("pulsar_segmented", {"bookkeeper": "bookkeeper"}, ("segmented-",)),
}
"""The systems by name."""


class _Systems(Mapping[str, AnySystem]):
    """The records of the systems by name, each imported at its first use."""

    def __getitem__(self, name: str) -> AnySystem:
        system: AnySystem = import_module(f"{__name__}.{BUILT[name].package}.system").SYSTEM
        return system

    def __contains__(self, name: object) -> bool:
        return name in BUILT

    def __iter__(self) -> Iterator[str]:
        return iter(BUILT)

    def __len__(self) -> int:
        return len(BUILT)


SYSTEMS: Final[Mapping[str, AnySystem]] = _Systems()


def system_named(name: str) -> AnySystem:
    """Return the system of that name.

    Raises:
        UsageError: there is no such system; the message names those that there are.
    """
    return system.system_named(name, SYSTEMS)


def system_of_fault(fault: str) -> AnySystem:
    """Return the only system that can have a seeded fault of that name."""
    own = next((name for name, built in BUILT.items() if fault.startswith(built.fault_prefixes or ("/",))), None)
    return SYSTEMS[own or next(iter(BUILT))]
