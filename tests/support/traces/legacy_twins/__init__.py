"""Planted violations of `pulsar-legacy`, each beside a twin: a clean trace that looks alike."""

from __future__ import annotations

# each of these enters its stories
from tests.support.traces.legacy_twins import entries, offers, passes, reads  # noqa: F401
from tests.support.traces.legacy_twins.story import STORIES

__all__ = ["STORIES"]
