"""The second model of `pulsar-pip430`."""

from __future__ import annotations

from typing import Final

from entrycache_evidence.pulsar_pip430.tlc import ends, worlds, wrapper
from entrycache_evidence.tlc.second import SecondModel

SECOND: Final = SecondModel((worlds.QUICK, *worlds.CLOSED), (*ends.CLAIMS, *wrapper.CLAIMS))
