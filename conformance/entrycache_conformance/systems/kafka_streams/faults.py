"""The planted faults of our fast cache, and of the reference among threads, as subjects."""

from __future__ import annotations

from functools import partial
from typing import Final

from entrycache_conformance.systems.kafka_streams.fast import DECLARATION, open_cache
from entrycache_faults.fast.kafka_streams import FAULTS as PLANTED
from entrycache_faults.reference.kafka_streams.threads import THREAD_FAULTS
from entrycache_protocol.system import Own

FAULTS: Final = {
    name: Own(DECLARATION, partial(open_cache, cache_type=types.cache_type, store_type=types.store_type))
    for name, types in PLANTED.items()
}
"""By name."""

OF_THREADS: Final = dict(THREAD_FAULTS)
"""How a faulty reference is opened for several threads, by the name of its fault."""
