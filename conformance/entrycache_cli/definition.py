"""Find the definition that a run holds its reference to, if the reference is the subject."""

from __future__ import annotations

from entrycache_conformance.judge import Definition
from entrycache_conformance.systems.reference import REFERENCE_NAME
from entrycache_protocol.subject import TestedSubject


def definition_for(subject: TestedSubject) -> Definition | None:
    """Return the definition of a system if the subject is its reference; it says nothing of other subjects."""
    if subject.name != REFERENCE_NAME:
        return None
    from entrycache_evidence.core.definitions import find_definition  # noqa: PLC0415 - nobody else needs evidence

    return find_definition(subject.declaration.system)
