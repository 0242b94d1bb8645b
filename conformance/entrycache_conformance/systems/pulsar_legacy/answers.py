"""Outcomes of `pulsar-legacy` in JSON."""

from __future__ import annotations

from typing import Final

from entrycache_protocol.answers import Answers
from entrycache_reference.pulsar_legacy.ops import Observe
from entrycache_reference.pulsar_legacy.outcomes import Observed, Refused

ANSWERS: Final = Answers(Refused, Observe, Observed, {"now": 0, "bytes": 0, "caches": {}})
"""How they are read and shown."""
