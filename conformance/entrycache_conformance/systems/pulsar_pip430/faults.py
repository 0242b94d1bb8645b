"""The planted faults of our fast cache as subjects."""

from __future__ import annotations

from functools import partial
from typing import Final

from entrycache_conformance.systems.pulsar_pip430.fast import DECLARATION, open_cache
from entrycache_faults.fast.pulsar_pip430 import FAULTS as PLANTED
from entrycache_protocol.system import Own

FAULTS: Final = {
    name: Own(DECLARATION, partial(open_cache, cache_type=cache_type)) for name, cache_type in PLANTED.items()
}
"""By name."""
