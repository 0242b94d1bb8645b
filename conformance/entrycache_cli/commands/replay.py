"""`entrycache replay`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from entrycache_cli.commands.options import (
    choice_of,
    ends_with_code,
    file_argument,
    json_option,
    say_nothing_checked,
    subject_options,
)
from entrycache_cli.report.failure_table import shown_table
from entrycache_cli.report.stand_alone import TEMPLATES, stand_alone_test
from entrycache_cli.report.terminal import console, echo
from entrycache_cli.report.told_once import depends
from entrycache_conformance.concurrent.replay import history_to_json, replay_history
from entrycache_conformance.concurrent.run import schedules_of
from entrycache_conformance.java.stand_alone import java_test
from entrycache_conformance.judge import Coverage, trajectory
from entrycache_conformance.replay import Replayed, replay
from entrycache_conformance.subjects.resolve import resolve
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.table import table_of_history
from entrycache_evidence.rulebook.registry import linked_rules
from entrycache_protocol.case import read_case, to_json
from entrycache_protocol.errors import UsageError
from entrycache_protocol.history import History, read_file
from entrycache_protocol.shown import printable
from entrycache_protocol.subject import UnderTest
from entrycache_protocol.text import compact


@click.command("replay")
@file_argument
@click.argument("subject", required=False)
@subject_options
@click.option(
    "--as",
    "as_test",
    type=click.Choice(["java", *TEMPLATES]),
    help="Print a test that stands alone instead of replaying.",
)
@json_option
@ends_with_code
def command(file: Path, subject: str | None, as_test: str | None, as_json: bool, **kwargs: Any) -> int:
    """Play the case in FILE on SUBJECT once more.

    Exit 1 while it fails; prints the rule, what was expected, what was answered, and both states.

    FILE is a plain file of 16 MiB and 10,000 steps at most, which copy 10,000,000 entries at most while the
    reference plays them: a step copies what is cached, a read does so for each position, a pass for each requeue.
    """
    if as_test is not None:
        echo(stand_alone(file, as_test, kwargs["command"]), nl=False)
        return 0
    choice = choice_of(subject, kwargs)
    case = read_file(file, SYSTEMS)
    found = resolve(choice._replace(system=choice.system or case.system.name))
    if isinstance(case, History):
        return _replay_history(file, case, found, as_json)
    try:
        replayed = replay(file, found)
    finally:
        found.close()
    if as_json:
        echo(json.dumps(_to_json(file, found.name, replayed)))
    else:
        _show(file, found.name, replayed)
    if replayed.skipped is not None:
        say_nothing_checked([f"{found.name} skipped the case: {replayed.skipped.reason}"])
    return replayed.verdict.exit_code


def _replay_history(file: Path, history: History, subject: UnderTest, as_json: bool) -> int:
    """Play a history again and again, and show what it breaks."""
    try:
        replayed = replay_history(history, subject)
    finally:
        subject.close()
    if as_json:
        echo(json.dumps(history_to_json(file, subject.name, replayed)))
    elif replayed.found is None:
        kept = f"{subject.name} keeps every promise in {replayed.tries} tries"
        console().print(f"{printable(str(file))}: {kept}", soft_wrap=True)
    else:
        out = console()
        out.print(shown_table(table_of_history(replayed.found)))
        _say_rules(rule.value for rule in replayed.found.rules)
        out.print(printable(schedules_of(replayed.found).in_words), soft_wrap=True)
    if replayed.unjudged:
        say_nothing_checked([f"{subject.name}: {replayed.unjudged}"])
    return replayed.verdict.exit_code


def stand_alone(file: Path, language: str, subject_command: str | None) -> str:
    """A test of one file that needs none of our code.

    Raises:
        UsageError: the case cannot be read, or there is no test in Java for its system.
    """
    case = read_case(file, SYSTEMS)
    if case.earlier:
        raise UsageError(f"{file}: the case depends on earlier runs; a test that stands alone plays one run")
    outcomes = [case.system.wire.write_outcome(done.outcome) for done in trajectory(case, Coverage())]
    value = {**to_json(case), "outcomes": outcomes}
    if language == "java":
        try:
            return java_test(value)
        except UsageError as error:
            raise UsageError(f"{file}: {error}") from None
    return stand_alone_test(value, language, subject_command)


def _to_json(file: Path, name: str, replayed: Replayed) -> dict[str, Any]:
    shown: dict[str, Any] = {"schema": 1, "case": str(file), "subject": name, "verdict": replayed.verdict.value}
    if replayed.failure is not None:
        told = replayed.failure.to_json()
        shown |= {part: told[part] for part in ("rules", "step", "expected", "got", "earlier") if part in told}
    shown["stale_outcomes"] = replayed.stale
    return shown


def _show(file: Path, name: str, replayed: Replayed) -> None:
    out = console()
    failure = replayed.failure
    if replayed.skipped is not None:
        out.print(f"{name} skipped the case: {printable(replayed.skipped.reason)}")
    elif failure is None:
        runs = f", after {len(replayed.case.earlier)} earlier runs" if replayed.case.earlier else ""
        agree = f"{name} and the reference agree on all {len(replayed.case.steps)} steps{runs}"
        out.print(f"{printable(str(file))}: {agree}", soft_wrap=True)
    else:
        if failure.table is not None:
            out.print(shown_table(failure.table))
        if failure.earlier:
            out.print(depends(failure.earlier), soft_wrap=True)
        _say_rules(failure.rules)
        out.print(f"expected: {compact(failure.expected)}", soft_wrap=True)
        out.print(f"got:      {compact(failure.got)}", soft_wrap=True)
    if replayed.stale:
        out.print(f"the outcomes written in the file are not the reference's at steps {replayed.stale}")


def _say_rules(rules: Iterable[str]) -> None:
    """The texts of broken rules."""
    for rule in rules:
        console().print(f"{rule}: {linked_rules(rule)[0]['text']}", soft_wrap=True)
