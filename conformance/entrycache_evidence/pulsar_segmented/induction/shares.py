"""Lemmas about the number of segments and their share of the limit, of any limit."""

from __future__ import annotations

from typing import Any, Final

import z3

from entrycache_evidence.induction.lemma import Lemma, Obligation, Planted
from entrycache_evidence.induction.on_terms import on_terms
from entrycache_evidence.induction.symbolic import Term, merged
from entrycache_evidence.planted import FAULT_OF
from entrycache_faults.model import Model
from entrycache_reference.pulsar_segmented import Config
from entrycache_reference.rules import Rule

_LIMIT, _SEGMENTS = z3.Ints("limit segments")
_CONFIG: Final = Config(Term(_LIMIT))  # type: ignore[arg-type]
GIB: Final = 2**30


def _number(table: Any, model: Model) -> list[Obligation]:
    """As many as there are whole GiB, and two at least."""
    found = merged(lambda: on_terms(model, {})["config.segments_of"](_CONFIG))
    most = z3.Or(found == 2, z3.And(found > 2, found * GIB <= _LIMIT))
    return [Obligation("nobody says how many", _LIMIT >= 0, z3.And(most, (found + 1) * GIB > _LIMIT))]


def _share(table: Any, model: Model) -> list[Obligation]:
    """Equal ones, which together leave less than a byte a segment of the limit."""
    found = merged(lambda: on_terms(model, {})["config.segment_bytes"](_CONFIG, Term(_SEGMENTS)))
    whole = found * _SEGMENTS
    given = z3.And(_LIMIT >= 0, _SEGMENTS >= 2)
    return [Obligation("any number of segments", given, z3.And(whole <= _LIMIT, whole + _SEGMENTS > _LIMIT))]


def _lemma(rule: Rule, claim: str, obligations: Any) -> Lemma:
    fault = FAULT_OF[rule]
    return Lemma(rule, claim, obligations, Planted(fault.note, fault.model))


LEMMAS: Final = (
    _lemma(Rule.S_CONFIG_1, "any limit, where nobody says how many segments there are", _number),
    _lemma(Rule.S_CONFIG_2, "any limit and any number of segments", _share),
)
