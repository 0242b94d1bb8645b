"""The families of released jars that there is an adapter for: those of the systems."""

from __future__ import annotations

from typing import Final

from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.family import Family

FAMILIES: Final[dict[str, Family]] = {each.jvm.name: each.jvm for each in SYSTEMS.values() if each.jvm is not None}
"""By their folders."""


def families_called(name: str) -> tuple[Family, ...]:
    """Those whose subjects have this name before their colon; each version belongs to one of them."""
    return tuple(family for family in FAMILIES.values() if family.called == name)
