"""Fixtures for the tests of released JVM caches. Without a JDK and Maven they are skipped with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from entrycache_conformance.java.driver import released_command
from entrycache_protocol.errors import MissingPrerequisite


@pytest.fixture(scope="session")
def released() -> list[str]:
    """Return the command of the driver over the released jar, built if it is not there."""
    from tests.support.jvm.driver import SUBJECT

    try:
        return released_command(SUBJECT)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def changed_jars(released: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    from entrycache_dev.changed_jars import PULSAR_PIP430_CHANGES, write_changed_jars

    return write_changed_jars(tmp_path_factory.mktemp("changed"), PULSAR_PIP430_CHANGES)
