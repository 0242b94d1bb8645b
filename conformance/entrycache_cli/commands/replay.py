"""The command `entrycache replay`: play a case file again, or print it as a test that stands alone.

A case is played on the reference and the subject, and the first difference is shown with both states. A history of
several threads is played many times. With `--as`, `export_test` prints a test in Python, Go, Rust or Java that starts
the subject and speaks the protocol without our code; its templates stand in `entrycache_cli/templates/tests`.
"""

import json
import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from entrycache_cli.commands import exit_codes, options
from entrycache_cli.report import content, run_text, terminal
from entrycache_conformance import finding_cases, histories, judge, replay, resolve, unpinned
from entrycache_conformance.failure import build_history_table
from entrycache_conformance.java.program import render_java_test
from entrycache_conformance.subjects.wrappers import lift_waivers
from entrycache_conformance.systems import SYSTEMS, java_text
from entrycache_evidence.core.rule_registry import load_linked_rules
from entrycache_protocol import codec, errors
from entrycache_protocol.case import Case, History, case_to_json, read_case, read_case_or_history
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.subject import TestedSubject, require_supported

TEST_TEMPLATES: Final = {"pytest": "test_case.py.j2", "go": "case_test.go.j2", "rust": "case.rs.j2"}
"""The languages of protocol tests with their templates; a test in Java drives the released classes instead."""

MIN_TIMEOUT_SECONDS: Final = 60
"""The least time that such a test gives to an answer: it may run on a slow machine."""


def render_test(
    case: Mapping[str, Any], language: str, argv: Sequence[str], timeout_seconds: int = MIN_TIMEOUT_SECONDS
) -> str:
    """Return a test that checks every outcome of a case and compares what `judge` compares.

    `case` holds the outcomes of the reference, and under `allowed` further answers by the number of their step: such
    an answer ends the test, because those behind it depend on it. Its `uncompared` names, by the number of a step, the
    keys of the answer that are not compared. `argv` starts the subject, and `timeout_seconds` bounds each answer.

    Foreign text stands in comments, or as ASCII JSON inside a string. Each of these languages reads a quote and a
    backslash as JSON writes them, and nothing else is escaped there.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - only for --as

    environment = Environment(
        loader=PackageLoader("entrycache_cli", "templates/tests"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
    )
    return environment.get_template(TEST_TEMPLATES[language]).render(
        about=java_text.to_comment(case.get("note", "")) or "No note.",
        note=json.dumps(case.get("note", "")),
        rules=_json_literal(case.get("rules", [])),
        command=_json_literal(list(argv)),
        system=_json_literal(case["system"]),
        config=_json_literal(case["config"]),
        steps=[_json_literal(step) for step in case["steps"]],
        outcomes=[_json_literal(outcome) for outcome in case["outcomes"]],
        allowed={index: _json_literal(answers) for index, answers in case.get("allowed", {}).items()},
        uncompared={index: _json_literal(names) for index, names in case.get("uncompared", {}).items()},
        timeout_seconds=timeout_seconds,
    )


def _json_literal(value: Any) -> str:
    """Return a value as JSON inside a string literal."""
    return json.dumps(json.dumps(value))


@click.command("replay")
@options.file_argument
@click.argument("subject", required=False)
@options.subject_options
@click.option(
    "--as",
    "as_test",
    type=click.Choice(["java", *TEST_TEMPLATES]),
    help="Print a standalone test instead of replaying.",
)
@click.option(
    "--unmask",
    multiple=True,
    metavar="FINDING",
    help="Play a case that is beyond a limit which the subject declares for this finding (repeatable; `all`).",
)
@options.json_option
@options.exits_with_code
def command(
    file: Path, subject: str | None, as_test: str | None, unmask: tuple[str, ...], as_json: bool, **kwargs: Any
) -> int:
    """Play the case in FILE on SUBJECT again; print the rule, the expected and the actual answer, and both states.

    FILE has at most 16 MiB and 10,000 steps. While the reference plays it, it copies at most 10,000,000 entries: a step
    copies all cached entries, a read does so for each position, a pass for each requeue. Exit 0: it conforms; 1: it
    still fails; 2: wrong usage or input, or the case has no steps.

    With --as pytest, go or rust the test starts SUBJECT as a process: CMD of --command, or else `entrycache serve
    SUBJECT`. With --as java the program tests the released classes of its class path, so only a released jar is a
    SUBJECT there, and it can be left out.
    """
    choice = options.choose_subject(subject, kwargs)
    if as_test is not None:
        terminal.echo(export_test(file, as_test, choice), nl=False)
        return 0
    case = read_case_or_history(file, SYSTEMS)
    tested = options.open_subject_of_case(file, choice, case.system.name)
    if isinstance(case, History):
        return _replay_history(file, case, tested, as_json)
    try:
        replayed = replay.replay_case(file, _lift(tested, unmask))
    finally:
        options.close_subject(tested)
    if as_json:
        terminal.echo(json.dumps(_to_json(file, tested.name, replayed)))
    else:
        _print_replay(file, tested.name, replayed)
    if replayed.skipped is not None:
        options.print_nothing_checked([f"{tested.name} skipped the case: {replayed.skipped.reason}"])
    elif replayed.verdict is errors.Verdict.NOTHING_CHECKED:
        options.print_nothing_checked([f"{file}: {_reason_of_nothing(tested.name, replayed)}"])
    return replayed.verdict.exit_code


def _lift(subject: TestedSubject, findings: tuple[str, ...]) -> TestedSubject:
    """Return the subject without the waivers of these findings."""
    if not findings:
        return subject
    return lift_waivers(subject, findings, finding_cases.load_finding_cases(subject.declaration.system))


def _reason_of_nothing(name: str, replayed: replay.ReplayResult) -> str:
    """Return why a replay checked nothing."""
    if not replayed.case.steps:
        return replay.NO_STEPS
    if len(replayed.uncompared_steps) == len(replayed.case.steps):
        return f"{name} shows no answer that is compared"
    return _describe_hidden_step(name, replayed.hidden_step)


def _describe_hidden_step(name: str, step: int | None) -> str:
    return f"of the failure at step {step}, which the case shows, {name} gives nothing to compare"


def _replay_history(file: Path, history: History, subject: TestedSubject, as_json: bool) -> int:
    """Play a history again and again, and show what it breaks."""
    try:
        replayed = replay.replay_history(history, subject)
    finally:
        options.close_subject(subject)
    if as_json:
        terminal.echo(json.dumps(replay.history_result_json(file, subject.name, replayed)))
    elif replayed.failing is None and not replayed.tries:
        pass
    elif replayed.failing is None:
        kept = f"{subject.name} keeps every promise in {replayed.tries} tries"
        terminal.make_console().print(f"{errors.escape_unprintable(str(file))}: {kept}", soft_wrap=True)
    else:
        out = terminal.make_console()
        out.print(run_text.failure_table(build_history_table(replayed.failing)))
        _print_rules(rule.value for rule in replayed.failing.rules)
        out.print(errors.escape_unprintable(histories.count_schedules(replayed.failing).in_words), soft_wrap=True)
    if replayed.unjudged:
        options.print_nothing_checked([f"{subject.name}: {replayed.unjudged}"])
    return replayed.verdict.exit_code


def export_test(file: Path, language: str, choice: resolve.SubjectChoice) -> str:
    """Return the case in a file as a test of one file. The test starts the subject and needs no other code of ours.

    Raises:
        UsageError: the case cannot be read, the subject cannot play it, or there is no test for both in this language.
        MissingPrerequisite: what the subject needs is not there.
        BrokenSubject: it does not start.
    """
    case = read_case(file, SYSTEMS)
    if case.earlier:
        raise errors.UsageError(f"{file}: the case depends on earlier runs; a test that stands alone plays one run")
    if not case.steps:
        raise errors.UsageError(f"{file}: {replay.NO_STEPS}, so a test of it checks nothing")
    path = judge.follow_file(case)
    outcomes = [case.system.wire.write_outcome(done.outcome) for done in path.steps]
    value = {**case_to_json(case), "outcomes": outcomes, "allowed": path.allowed}
    if language == "java":
        _require_java_subject(choice, case)
        try:
            return render_java_test(value)
        except errors.UsageError as error:
            raise errors.UsageError(f"{file}: {error}") from None
    tested = options.open_subject_of_case(file, choice, case.system.name)
    choice = choice._replace(system=choice.system or case.system.name)
    try:
        require_supported(case, tested)
        if tested.declaration.order_slack:
            slack = f"{tested.name} has order_slack, and a test that stands alone cannot follow its order"
            raise errors.UsageError(f"{file}: {slack}; use `entrycache replay` without --as")
        hidden = replay.find_hidden_step(case, tested.declaration)
        if hidden is not None:
            nothing = _describe_hidden_step(tested.name, hidden)
            raise errors.UsageError(f"{file}: {nothing}, so a test of it checks nothing")
        value = _without_uncompared(value, case, tested.declaration)
    finally:
        options.close_subject(tested)
    timeout_seconds = max(MIN_TIMEOUT_SECONDS, math.ceil(choice.timeout_seconds + len(case.steps) / 1_000))
    return render_test(value, language, _start_command(choice), timeout_seconds)


def _without_uncompared(value: dict[str, Any], case: Case, declaration: Declaration) -> dict[str, Any]:
    """Return a case whose outcomes lack the keys that a subject leaves out; `uncompared` names them by step."""
    names = {at: sorted(declaration.uncompared.get(type(op).name, ())) for at, op in enumerate(case.steps)}
    names = {at: keys for at, keys in names.items() if keys}

    def strip(at: int, outcome: Mapping[str, Any]) -> dict[str, Any]:
        return {key: part for key, part in outcome.items() if key not in names.get(at, ())}

    return {
        **value,
        "outcomes": [strip(at, outcome) for at, outcome in enumerate(value["outcomes"])],
        "allowed": {at: [strip(at, each) for each in answers] for at, answers in value["allowed"].items()},
        "uncompared": names,
    }


def _require_java_subject(choice: resolve.SubjectChoice, case: Case) -> None:
    """Refuse a subject that a Java program does not test. For a released jar, say where the program takes it from."""
    if choice.name is None and choice.command is None and choice.classpath is None:
        return
    name = choice.name or ""
    is_given = resolve.is_released(name) or resolve.is_jar(name)
    if choice.command is not None or choice.classpath is not None or not is_given:
        raise errors.UsageError(
            f"--as java tests the released classes of its class path, not {choice.typed()}; "
            "leave the subject out, or use --as pytest, go or rust"
        )
    offered = unpinned.closest_release(name).family.system
    if offered != case.system.name:
        raise errors.UsageError(f"the case is about {case.system.name}, {name} offers {offered}")
    exit_codes.print_error(f"the program tests its class path; put the classes of {name} there")


def _start_command(choice: resolve.SubjectChoice) -> list[str]:
    """Return the program and arguments that start a subject on the machine of the test."""
    if choice.command is not None:
        return shlex.split(choice.command)
    classpath = [] if choice.classpath is None else ["--classpath", choice.classpath]
    return ["entrycache", "serve", str(choice.name), *classpath, "--system", str(choice.system)]


def _to_json(file: Path, name: str, replayed: replay.ReplayResult) -> dict[str, Any]:
    value: dict[str, Any] = {"schema": 1, "case": str(file), "subject": name, "verdict": replayed.verdict.value}
    if replayed.failure is not None:
        failure_json = replayed.failure.to_json()
        value |= {
            part: failure_json[part]
            for part in ("rules", "step", "expected", "got", "log", "earlier")
            if part in failure_json
        }
    value["stale_outcomes"] = replayed.stale
    if replayed.uncompared_steps:
        value["uncompared_steps"] = replayed.uncompared_steps
    return value


def _print_replay(file: Path, name: str, replayed: replay.ReplayResult) -> None:
    out = terminal.make_console()
    failure = replayed.failure
    if replayed.skipped is not None:
        out.print(f"{name} skipped the case: {errors.escape_unprintable(replayed.skipped.reason)}")
    elif replayed.verdict is errors.Verdict.NOTHING_CHECKED:
        pass
    elif failure is None:
        runs = f", after {len(replayed.case.earlier)} earlier runs" if replayed.case.earlier else ""
        agree = f"{name} and the reference agree on all {len(replayed.case.steps)} steps{runs}"
        blind = replayed.uncompared_steps
        except_for = f"; nothing is compared at steps {blind}" if blind else ""
        out.print(f"{errors.escape_unprintable(str(file))}: {agree}{except_for}", soft_wrap=True)
    else:
        if failure.table is not None:
            out.print(run_text.failure_table(failure.table))
        if failure.earlier:
            out.print(content.earlier_runs_note(failure.earlier), soft_wrap=True)
        _print_rules(failure.rules)
        out.print(f"expected: {codec.format_json(failure.expected)}", soft_wrap=True)
        out.print(f"got:      {codec.format_json(failure.got)}", soft_wrap=True)
        run_text.print_log(out, failure)
    if replayed.stale:
        out.print(f"the outcomes written in the file are not the reference's at steps {replayed.stale}")


def _print_rules(rules: Iterable[str]) -> None:
    """Print the texts of broken rules."""
    for rule in rules:
        terminal.make_console().print(f"{rule}: {load_linked_rules(rule)[0]['text']}", soft_wrap=True)
