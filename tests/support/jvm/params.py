"""Releases as parameters of tests that are dear for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pytest

from entrycache_conformance.java.releases import releases

MEASURED: Final = [release for release in releases("kafka-streams") if release.version in ("3.9.2", "4.0.0", "4.3.1")]
"""The releases of Kafka Streams that the committed campaigns and measurements ran on, the oldest first."""


def newest_in_every_run(releases: Sequence[Any]) -> list[Any]:
    """Return the releases as parameters; the older ones are for the long run."""
    return [*(pytest.param(release, marks=pytest.mark.long) for release in releases[:-1]), releases[-1]]
