"""A case as one Java file that drives the released classes, without other code of ours than the agent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import jinja2

from entrycache_conformance.java.literals import comment, literal, string, without_messages
from entrycache_conformance.java.releases import releases
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.errors import UsageError

CLASS_NAME: Final = "EntryCacheCaseTest"
"""The class, and without ``.java`` the file, of a stand-alone test."""

STEPS_A_METHOD: Final = 20
"""A Java method holds 64 KiB of code."""


def java_test(case: Mapping[str, Any], mismatch_step: int | None = None) -> str:
    """The text of the file ``EntryCacheCaseTest.java``.

    ``case`` is the JSON object with the reference's ``outcomes``; the test checks every one of them. The step
    ``mismatch_step``, where a subject answered otherwise, gets a comment.
    """
    steps: Sequence[Mapping[str, Any]] = case["steps"]
    outcomes: Sequence[Mapping[str, Any]] = case.get("outcomes", ())
    families = {system.name: system.jvm for system in SYSTEMS.values() if system.jvm is not None and system.jvm.text}
    if case["system"] not in families:
        known = ", ".join(families)
        raise UsageError(f"there is no Java test for the system {case['system']}; there is one for {known}")
    family = families[case["system"]]
    java = family.text
    assert java is not None
    if len(outcomes) != len(steps):
        raise UsageError(f"the case has {len(outcomes)} outcomes for {len(steps)} steps; a test needs them all")
    lines = [
        {
            "index": index,
            "text": string(json.dumps(step).replace('"', "")),
            "call": java.call(step),
            "expected": literal(without_messages(outcome)),
            "mismatch": index == mismatch_step,
        }
        for index, (step, outcome) in enumerate(zip(steps, outcomes, strict=True))
    ]
    common = {
        "name": CLASS_NAME,
        "releases": ", ".join(each.version for each in releases(family.name) if each.era in (java.eras or [each.era])),
        "rules": comment(", ".join(case.get("rules", ()))),
        "note": comment(case.get("note", "")),
        "steps": [lines[start : start + STEPS_A_METHOD] for start in range(0, len(lines), STEPS_A_METHOD)],
    }
    return _template(java.templates, java.like).render(**common, **java.fill(case))


def _template(*folders: str) -> jinja2.Template:
    """Names in the text that the case does not fill are an error; Java is not HTML, nothing is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader("entrycache_conformance", folder) for folder in folders if folder]
        ),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template("test.java.j2")
