"""Which system a trace is of that does not say."""

from __future__ import annotations

from typing import Final

from entrycache_reference import pulsar_pip430

FIRST: Final = pulsar_pip430.NAME
