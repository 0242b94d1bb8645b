"""One run as an assertion: what a test of an author asks, and the text that it fails with."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from entrycache_conformance.concurrent.run import said
from entrycache_conformance.levels import asked_levels
from entrycache_conformance.profiles import Profile
from entrycache_conformance.run import Options, Report, conform
from entrycache_conformance.subjects.authored import AuthoredSubject
from entrycache_protocol.author import Subject
from entrycache_protocol.case import config_to_json
from entrycache_protocol.failure import Failure, expected_json, got_json
from entrycache_protocol.text import arguments, compact
from entrycache_reference.rules import Rule


def check(
    subject: type[Subject], levels: Sequence[str] | None, examples: int, seed: int, failures: Path | None
) -> None:
    """Judge a class of an author; see `entrycache_protocol.check`.

    Raises:
        AssertionError: it breaks a rule, or nothing was checked.
        EntrycacheError: it is no subject.
    """
    found = AuthoredSubject(subject)
    asked = asked_levels(found.declaration, [levels] if isinstance(levels, str) else levels or ())
    with tempfile.TemporaryDirectory() as passing:
        options = Options(asked, profile_of(examples), seed, 0.0, failures or Path(passing))
        report = conform(found, options)
    text = told(found, report, keeps_files=failures is not None)
    if text:
        raise AssertionError(text)


def profile_of(examples: int) -> Profile:
    """The least that so many examples must have met: as much as the profile `dev` asks of its 400."""
    return Profile(examples, max(1, examples // 20), max(1, examples // 80))


def told(subject: AuthoredSubject, report: Report, keeps_files: bool) -> str:
    """What is wrong, as text; empty where nothing is."""
    parts = []
    for failure, rules, path in report.failures:
        parts.append(sequence(subject, failure, rules))
        parts += [f"case file: {path}"] if keeps_files else []
    for broken, path in report.histories:
        parts.append(said(broken))
        parts += [f"case file: {path}"] if keeps_files else []
    unchecked = [level for level, judged in report.json["levels"].items() if judged["verdict"] == "nothing-checked"]
    if not parts and unchecked:
        reasons = "; ".join(f"{item['what']}: {item['reason']}" for item in report.json["skipped"])
        parts.append(f"nothing was checked of {subject.name} at {', '.join(unchecked)}: {reasons}")
    return "\n".join(parts)


def sequence(subject: AuthoredSubject, failure: Failure, rules: tuple[Rule, ...]) -> str:
    """The shortest sequence, a step a line; the last one with what was expected and got."""
    system, difference = failure.case.system, failure.difference
    config = config_to_json(system, failure.case.config, subject.declaration.sent_keys)
    names = ", ".join(rule.value for rule in rules)
    lines = [f"{subject.name} breaks {names} at step {difference.at}", f"config {compact(config)}"]
    for at, (op, done) in enumerate(zip(failure.case.steps, failure.steps, strict=True)):
        if at > difference.at:
            break
        answer = f" -> {compact(system.wire.write_outcome(done.outcome))}" if at < difference.at else ""
        lines.append(f"step {at}: {type(op).name}  {arguments(op)}{answer}")
    lines.append(f"  expected {compact(expected_json(system, difference))}")
    lines.append(f"  got      {compact(got_json(system, difference))}")
    if difference.failed is not None:
        lines.append(subject.traceback(failure.case).rstrip())
    lines.append(f"what the rule says: entrycache rules {rules[0].value}")
    return "\n".join(line for line in lines if line)
