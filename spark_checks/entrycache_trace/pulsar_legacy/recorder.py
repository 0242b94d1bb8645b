"""Turns the steps of a case into a recorded trace; there is no removal queue, so no slot has a number."""

from __future__ import annotations

from functools import partial
from typing import Final

from entrycache_trace.calls import WriteCalls
from entrycache_trace.pulsar_pip430.recorder import write_calls as write_numbered

write_calls: Final[WriteCalls] = partial(write_numbered, numbers_slots=False)
