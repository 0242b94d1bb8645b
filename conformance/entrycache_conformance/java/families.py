"""The families of released jars: those of all systems, by the name of a subject before its colon."""

from __future__ import annotations

from typing import Final

from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.family import Family

FAMILIES: Final[dict[str, Family]] = {
    system.jvm.name: system.jvm for system in SYSTEMS.values() if system.jvm is not None
}
