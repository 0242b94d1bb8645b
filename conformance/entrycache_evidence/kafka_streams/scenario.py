"""What tests of single rules open: the cache for several threads, of the reference or of a model."""

from __future__ import annotations

from typing import Any

from entrycache_evidence.under import asked
from entrycache_faults.reference.kafka_streams.threads import SHARED
from entrycache_reference.kafka_streams.threads import shared


def opened(config: Any) -> Any:
    """The cache of `kafka-streams` for several threads: the reference's, or that of the model."""
    model = asked()
    return shared.Shared(config) if model is None else model[SHARED](config)
