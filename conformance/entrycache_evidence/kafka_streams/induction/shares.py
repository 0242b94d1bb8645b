"""The lemma about shares of `kafka-streams`: any number of bytes and of threads."""

from __future__ import annotations

from typing import Any, Final

import z3

from entrycache_evidence.induction.lemma import Lemma, Obligation
from entrycache_evidence.induction.symbolic import Term, raw
from entrycache_evidence.kafka_streams.induction.held import always, fault
from entrycache_faults.model import Model
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.rules import Rule

_BYTES, _THREADS = z3.Ints("bytes threads")


def _shares(table: Any, model: Model) -> list[Obligation]:
    """Equal shares, rounded down; the global thread takes one; without threads all of it."""
    found = []
    for is_global in (False, True):

        def way(is_global: bool = is_global) -> Any:
            event = ops.Share(Term(_BYTES), Term(_THREADS), is_global)  # type: ignore[arg-type]
            return raw(model["step.perform"](None, event, Config())[1].bytes)

        takers = _THREADS + int(is_global)
        goal = always(
            way,
            lambda answer, takers=takers: z3.If(  # type: ignore[misc]
                _THREADS == 0, answer == _BYTES, z3.And(answer * takers <= _BYTES, (answer + 1) * takers > _BYTES)
            ),
        )
        name = "with a global thread" if is_global else "without"
        found.append(Obligation(name, z3.And(_BYTES >= 0, _THREADS >= 0), goal))
    return found


LEMMAS: Final = (Lemma(Rule.K_SHARE_1, "any number of bytes and of threads", _shares, fault(Rule.K_SHARE_1)),)
"""The lemma of this module."""
