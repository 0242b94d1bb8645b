"""An isolation of views is sent only to a subject that declares it, and its absence is no exception."""

from __future__ import annotations

from typing import Any

import pytest

from entrycache_conformance.generate import make_seeded_cases
from entrycache_conformance.report import find_exemptions
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.declaration import read_declaration
from entrycache_reference.kafka_streams.view_ops import StoreView
from entrycache_reference.vocabulary import ABSENT

SYSTEM = SYSTEMS["kafka-streams"]


@pytest.mark.parametrize("limits", [{}, {"isolation_reads": True}], ids=["undeclared", "declared"])
def test_a_view_has_an_isolation_only_if_the_subject_declares_it(limits: dict[str, Any]) -> None:
    offer = {"ops": [*SYSTEM.ops], "introspection": sorted(SYSTEM.wire.introspection), "limits": limits}
    declaration = read_declaration({"version": 1, "systems": {SYSTEM.name: offer}}, SYSTEMS)
    menu = SYSTEM.cases.menu(declaration.ops_up_to("views"), "views")
    cases = [generated.case for generated in make_seeded_cases(declaration, menu, 60, 0)]
    isolations = {op.isolation for case in cases for op in case.steps if isinstance(op, StoreView)}
    assert ABSENT in isolations
    assert (len(isolations) > 1) is bool(limits)
    assert [each for each in find_exemptions(declaration, {}) if "isolation" in each.what] == []
