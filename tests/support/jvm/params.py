"""Releases as parameters of tests that are dear for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def newest_in_every_run(releases: Sequence[Any]) -> list[Any]:
    """The older ones are for the long run: the demo holds them to the rules in every run."""
    return [*(pytest.param(release, marks=pytest.mark.long) for release in releases[:-1]), releases[-1]]
