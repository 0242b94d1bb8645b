"""The first difference of a class from the reference in seeded cases: quicker than a whole run."""

from __future__ import annotations

from entrycache import Subject
from entrycache_conformance import generate, levels
from entrycache_conformance.judge import judge_case
from entrycache_conformance.resolve import PythonSubject
from entrycache_protocol.case import Case
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.subject import Difference


def declaration_of(subject: type[Subject]) -> Declaration:
    return PythonSubject(subject).declaration


def cases_of(subject: type[Subject], count: int = 150, level: str = "") -> list[Case]:
    """Return seeded cases for a subject, by default at the last level of which it offers an operation."""
    declaration = declaration_of(subject)
    level = level or levels.select_levels(declaration, ())[-1]
    names = declaration.ops_up_to(level)
    menu = declaration.system.cases.menu(names, level)
    return [generated.case for generated in generate.make_seeded_cases(declaration, menu, count, 0)]


def first_difference(subject: type[Subject], count: int = 150, level: str = "") -> Difference | None:
    """Return the first difference of a subject in seeded cases."""
    tested = PythonSubject(subject)
    differences = (judge_case(tested, case).difference for case in cases_of(subject, count, level))
    return next(filter(None, differences), None)
