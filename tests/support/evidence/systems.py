"""Replacement of a built system for the time of a test."""

from __future__ import annotations

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.system import AnySystem


def replace_system(monkeypatch: pytest.MonkeyPatch, system: AnySystem) -> None:
    """Let `SYSTEMS` answer this system under its name."""
    look_up = type(SYSTEMS).__getitem__
    monkeypatch.setattr(
        type(SYSTEMS), "__getitem__", lambda self, name: system if name == system.name else look_up(self, name)
    )
