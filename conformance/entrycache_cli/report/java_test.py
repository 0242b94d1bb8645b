"""A case as one Java file that drives the released classes, without other code of ours than the agent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import jinja2

from entrycache_cli.report.java_text import comment, literal, string, without_messages
from entrycache_cli.systems import CLI_PARTS
from entrycache_conformance.java.families import FAMILIES
from entrycache_conformance.java.releases import versions
from entrycache_protocol.errors import UsageError

CLASS_NAME: Final = "EntryCacheCaseTest"
"""The class, and without ``.java`` the file, of a stand-alone test."""

FAMILY_OF: Final = {family.system: family.name for family in FAMILIES.values()}
"""The family whose releases the text compiles and runs with, by system."""

STEPS_A_METHOD: Final = 20
"""A Java method holds 64 KiB of code."""


def java_test(case: Mapping[str, Any], mismatch_step: int | None = None) -> str:
    """The text of the file ``EntryCacheCaseTest.java``.

    ``case`` is the JSON object with the reference's ``outcomes``; the test checks every one of them. The step
    ``mismatch_step``, where a subject answered otherwise, gets a comment.
    """
    steps: Sequence[Mapping[str, Any]] = case["steps"]
    outcomes: Sequence[Mapping[str, Any]] = case.get("outcomes", ())
    if case["system"] not in CLI_PARTS:
        known = ", ".join(CLI_PARTS)
        raise UsageError(f"there is no Java test for the system {case['system']}; there is one for {known}")
    java = CLI_PARTS[case["system"]].java
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
        "releases": ", ".join(versions(FAMILY_OF[case["system"]])),
        "rules": comment(", ".join(case.get("rules", ()))),
        "note": comment(case.get("note", "")),
        "steps": [lines[start : start + STEPS_A_METHOD] for start in range(0, len(lines), STEPS_A_METHOD)],
    }
    return _template(java.templates).render(**common, **java.fill(case))


def _template(folder: str) -> jinja2.Template:
    """Names in the text that the case does not fill are an error; Java is not HTML, nothing is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("entrycache_cli", folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template("test.java.j2")
