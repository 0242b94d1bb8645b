"""The list of the planted faults, and the decorator that enters a function in it."""

from __future__ import annotations

from typing import Final

from entrycache_faults.planted import Faults

PLANTED: Final = Faults("entrycache_reference.pulsar_pip430")

planted = PLANTED.register
