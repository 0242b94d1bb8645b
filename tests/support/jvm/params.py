"""Releases as parameters of tests that are dear for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def newest_in_every_run(releases: Sequence[Any]) -> list[Any]:
    """Return the releases as parameters; the older ones are for the long run."""
    return [*(pytest.param(release, marks=pytest.mark.long) for release in releases[:-1]), releases[-1]]
