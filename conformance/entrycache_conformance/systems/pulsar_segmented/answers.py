"""Outcomes of `pulsar-segmented` in JSON."""

from __future__ import annotations

from typing import Final

from entrycache_protocol.answers import Answers
from entrycache_reference.pulsar_segmented.ops import Observe
from entrycache_reference.pulsar_segmented.outcomes import Observed, Refused

ANSWERS: Final = Answers(Refused, Observe, Observed, {"segments": (), "current": 0})
"""How they are read and shown."""
