"""`entrycache replay`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from entrycache_cli.commands.options import (
    choose_subject,
    exits_with_code,
    file_argument,
    json_option,
    print_nothing_checked,
    subject_options,
)
from entrycache_cli.report.content import earlier_runs_note
from entrycache_cli.report.run_text import failure_table
from entrycache_cli.report.stand_alone import TEST_TEMPLATES, render_test
from entrycache_cli.report.terminal import echo, make_console
from entrycache_conformance.failure import build_history_table
from entrycache_conformance.histories import count_schedules
from entrycache_conformance.java.program import render_java_test
from entrycache_conformance.judge import Coverage, run_reference
from entrycache_conformance.replay import ReplayResult, history_result_json, replay_case, replay_history
from entrycache_conformance.resolve import resolve_subject
from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core.rule_registry import load_linked_rules
from entrycache_protocol.case import History, case_to_json, read_case, read_case_or_history
from entrycache_protocol.codec import format_json
from entrycache_protocol.errors import UsageError
from entrycache_protocol.messages import escape_unprintable
from entrycache_protocol.subject import TestedSubject


@click.command("replay")
@file_argument
@click.argument("subject", required=False)
@subject_options
@click.option(
    "--as",
    "as_test",
    type=click.Choice(["java", *TEST_TEMPLATES]),
    help="Print a test that stands alone instead of replaying.",
)
@json_option
@exits_with_code
def command(file: Path, subject: str | None, as_test: str | None, as_json: bool, **kwargs: Any) -> int:
    """Play the case in FILE on SUBJECT once more.

    Exit 1 while it fails; prints the rule, what was expected, what was answered, and both states.

    FILE is a plain file of 16 MiB and 10,000 steps at most, which copy 10,000,000 entries at most while the
    reference plays them: a step copies what is cached, a read does so for each position, a pass for each requeue.
    """
    if as_test is not None:
        echo(export_test(file, as_test, kwargs["command"]), nl=False)
        return 0
    choice = choose_subject(subject, kwargs)
    case = read_case_or_history(file, SYSTEMS)
    found = resolve_subject(choice._replace(system=choice.system or case.system.name))
    if isinstance(case, History):
        return _replay_history(file, case, found, as_json)
    try:
        replayed = replay_case(file, found)
    finally:
        found.close()
    if as_json:
        echo(json.dumps(_to_json(file, found.name, replayed)))
    else:
        _print_replay(file, found.name, replayed)
    if replayed.skipped is not None:
        print_nothing_checked([f"{found.name} skipped the case: {replayed.skipped.reason}"])
    return replayed.verdict.exit_code


def _replay_history(file: Path, history: History, subject: TestedSubject, as_json: bool) -> int:
    """Play a history again and again, and show what it breaks."""
    try:
        replayed = replay_history(history, subject)
    finally:
        subject.close()
    if as_json:
        echo(json.dumps(history_result_json(file, subject.name, replayed)))
    elif replayed.found is None:
        kept = f"{subject.name} keeps every promise in {replayed.tries} tries"
        make_console().print(f"{escape_unprintable(str(file))}: {kept}", soft_wrap=True)
    else:
        out = make_console()
        out.print(failure_table(build_history_table(replayed.found)))
        _print_rules(rule.value for rule in replayed.found.rules)
        out.print(escape_unprintable(count_schedules(replayed.found).in_words), soft_wrap=True)
    if replayed.unjudged:
        print_nothing_checked([f"{subject.name}: {replayed.unjudged}"])
    return replayed.verdict.exit_code


def export_test(file: Path, language: str, subject_command: str | None) -> str:
    """A test of one file that needs none of our code.

    Raises:
        UsageError: the case cannot be read, or there is no test in Java for its system.
    """
    case = read_case(file, SYSTEMS)
    if case.earlier:
        raise UsageError(f"{file}: the case depends on earlier runs; a test that stands alone plays one run")
    outcomes = [case.system.wire.write_outcome(done.outcome) for done in run_reference(case, Coverage())]
    value = {**case_to_json(case), "outcomes": outcomes}
    if language == "java":
        try:
            return render_java_test(value)
        except UsageError as error:
            raise UsageError(f"{file}: {error}") from None
    return render_test(value, language, subject_command)


def _to_json(file: Path, name: str, replayed: ReplayResult) -> dict[str, Any]:
    shown: dict[str, Any] = {"schema": 1, "case": str(file), "subject": name, "verdict": replayed.verdict.value}
    if replayed.failure is not None:
        told = replayed.failure.to_json()
        shown |= {part: told[part] for part in ("rules", "step", "expected", "got", "earlier") if part in told}
    shown["stale_outcomes"] = replayed.stale
    return shown


def _print_replay(file: Path, name: str, replayed: ReplayResult) -> None:
    out = make_console()
    failure = replayed.failure
    if replayed.skipped is not None:
        out.print(f"{name} skipped the case: {escape_unprintable(replayed.skipped.reason)}")
    elif failure is None:
        runs = f", after {len(replayed.case.earlier)} earlier runs" if replayed.case.earlier else ""
        agree = f"{name} and the reference agree on all {len(replayed.case.steps)} steps{runs}"
        out.print(f"{escape_unprintable(str(file))}: {agree}", soft_wrap=True)
    else:
        if failure.table is not None:
            out.print(failure_table(failure.table))
        if failure.earlier:
            out.print(earlier_runs_note(failure.earlier), soft_wrap=True)
        _print_rules(failure.rules)
        out.print(f"expected: {format_json(failure.expected)}", soft_wrap=True)
        out.print(f"got:      {format_json(failure.got)}", soft_wrap=True)
    if replayed.stale:
        out.print(f"the outcomes written in the file are not the reference's at steps {replayed.stale}")


def _print_rules(rules: Iterable[str]) -> None:
    """The texts of broken rules."""
    for rule in rules:
        make_console().print(f"{rule}: {load_linked_rules(rule)[0]['text']}", soft_wrap=True)
