"""Reading a broker.conf as the broker does: Java properties, ISO-8859-1 (PulsarConfigurationLoader.create)."""

from __future__ import annotations

from pathlib import Path

from entrycache_cli.settings.properties import Given, read_properties


def read_broker_conf(path: Path) -> list[Given]:
    """Every setting of a broker's file in its own order, duplicates included.

    Raises:
        UsageError: see `read_properties`.
    """
    return read_properties(path, "the broker configuration", "a broker")
