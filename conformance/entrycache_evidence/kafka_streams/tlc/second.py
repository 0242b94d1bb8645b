"""The second model of `kafka-streams`."""

from __future__ import annotations

from typing import Final

from entrycache_evidence.kafka_streams.tlc import worlds
from entrycache_evidence.tlc.second import SecondModel

SECOND: Final = SecondModel((worlds.QUICK, *worlds.CLOSED), ())
