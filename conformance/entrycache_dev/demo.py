"""The demo of `make conform`: run every part of the suite once, through its own commands, and print one table.

`request_parts` asks for the parts: conformance runs, a trace with its audits, and the proofs. `Demo` runs each part as
`entrycache ... --json` in a process of its own, two at a time, and collects the results. The results are one stream, as
`entrycache report` reads it. A part whose tool is missing becomes a line of the table too.
"""

from entrycache_cli.__main__ import begin

if __name__ == "__main__":
    begin("entrycache_dev.demo")

import json
import random
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Self

import click
from rich.text import Text

from entrycache_cli.commands.exit_codes import OneLineErrors
from entrycache_cli.report import results, terminal
from entrycache_cli.report.formats import FORMATS
from entrycache_conformance import generate, judge, resolve
from entrycache_conformance.java.releases import releases
from entrycache_conformance.subjects import processes
from entrycache_conformance.systems import SYSTEMS, reference
from entrycache_dev.changed_systems import find_touched_systems, list_changed_files
from entrycache_evidence.systems import SYSTEM_EVIDENCE
from entrycache_protocol import case, files, strict_json
from entrycache_protocol.system import AnySystem
from entrycache_spark.common import rule_files
from entrycache_spark.common.system import AUDITED, DemoTrace

FAST = "fast"

BACKENDS = ("spark", "local", "replay")
TRACED_STEPS = 2_000
TRACED_SEED = 1
TRACED_SEEDS_MAX = 100
TRACED_EVENTS = 5_000
NOT_SHOWN_RULES = frozenset(rule for parts in AUDITED.values() for rule in parts.demo_trace.not_shown)


MISSING_PREREQUISITE = 4
"""The exit code of a command that lacks a tool."""

PARALLEL_PARTS = 2
"""The number of parts that run at a time."""


class CommandResult(NamedTuple):
    """The result of a command: its exit code, its JSON object, and the last line of its stderr."""

    code: int
    value: dict[str, Any] | None
    error: str


def run_command(*arguments: str) -> CommandResult:
    """Run one command of `entrycache`."""
    argv = [sys.executable, "-m", "entrycache_cli", *arguments]
    done = processes.run_program(argv)
    try:
        value = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        value = None
    errors = [line for line in done.stderr.splitlines() if line.strip()]
    return CommandResult(done.returncode, value, errors[-1] if errors else "")


class DemoPart(NamedTuple):
    """A part in progress or finished, with its name and the keys that are added to its result."""

    what: str
    marks: dict[str, str]
    ran: Future[CommandResult]


class Demo:
    """The parts of a run, `PARALLEL_PARTS` at a time; `worst` is the highest exit code other than a missing tool's."""

    def __init__(self) -> None:
        self.results: list[dict[str, Any]] = []
        self.missing = 0
        self.worst = 0
        self._parts: list[DemoPart] = []
        self._pool = ThreadPoolExecutor(PARALLEL_PARTS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Start no further parts."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def part(self, what: str, *arguments: str, **marks: str) -> DemoPart:
        """Run one part as soon as there is room. `marks` are written into the result."""
        part = DemoPart(what, marks, self._pool.submit(run_command, *arguments, "--json"))
        self._parts.append(part)
        return part

    def make_files(self, what: str, *arguments: str) -> bool:
        """Run a part that others need, wait for it, and return whether it gave a result."""
        code, value, _ = self.part(what, *arguments).ran.result()
        return code != MISSING_PREREQUISITE and value is not None

    def finish(self) -> None:
        """Wait for all parts and enter their results in the order of requests; after a stop, only the finished ones."""
        out = terminal.make_console(stderr=True)
        try:
            while self._parts:
                with out.status(Text(self._parts[0].what)):
                    self._parts[0].ran.result()
                self._enter(self._parts.pop(0))
        except KeyboardInterrupt:
            for part in self._parts:
                if part.ran.done():
                    self._enter(part)
            raise

    def _enter(self, part: DemoPart) -> None:
        what, marks, (code, value, error) = part.what, part.marks, part.ran.result()
        reason = error.removeprefix("entrycache: ")
        if code == MISSING_PREREQUISITE:
            self.missing += 1
            self.results.append({"schema": 1, "skipped": [{"what": what, "reason": reason}]})
            return
        self.worst = max(self.worst, code)
        if value is None:
            self.worst = max(self.worst, 1)
            reason = reason or f"no result, exit code {code}"
            self.results.append({"schema": 1, "skipped": [{"what": f"{what}: failed", "reason": reason}]})
            return
        if any(key in value for key in ("levels", "evidence", "violations", "broken")):
            self.results.append(strict_json.seal_json({**value, **marks}) if marks else value)
        # One trace cannot show every rule: it has one configuration.
        if "violations" in value and not all_conform(value["rules"]):
            self.worst = max(self.worst, 1)


def all_conform(verdicts: dict[str, str]) -> bool:
    """Return whether the audit decided every rule that the trace can show, and each of them conforms."""
    return all(
        verdict == "conforms" or (verdict == "nothing-checked" and rule in NOT_SHOWN_RULES)
        for rule, verdict in verdicts.items()
    )


def demo_subjects(system: AnySystem, strict: bool, short: bool = False) -> dict[str, bool]:
    """Return the subjects of a system, each with whether it stands for the others.

    Of the releases it takes the newest, a strict run all. A short run takes the newest release alone.
    """
    known = () if system.jvm is None else releases(system.jvm.name)
    if short and known:
        return {known[-1].subject: True}
    released = {release.subject: release == known[-1] for release in known if strict or release == known[-1]}
    own = {reference.REFERENCE_NAME: False} if system.fast is None else {reference.REFERENCE_NAME: False, FAST: True}
    return {**own, **released}


def write_traced_case(folder: Path, system: AnySystem, level: str) -> Path:
    """Write a long generated case of what the fast cache offers up to a level, for the trace.

    It is the case of the first seed in which each rule fires that the trace can show.
    """
    fast = resolve.open_in_process(FAST, system.name)
    assert fast is not None
    menu = system.cases.menu([name for name in system.ops_up_to(level) if name in fast.declaration.ops])
    traced_rules = {rule.id for rule in rule_files.all_rules(system.name)} - NOT_SHOWN_RULES
    for seed in range(1, TRACED_SEEDS_MAX + 1):
        coverage, draw = judge.Coverage(), random.Random(seed).randint
        generated = generate.make_case(draw, fast.declaration, menu, coverage, TRACED_STEPS, law_sample=judge.NO_STEP)
        if traced_rules <= {rule.value for rule, count in coverage.fired.items() if count}:
            break
    return case.write_case(generated.case, folder, "traced")


def audit_trace(demo: Demo, folder: Path, system: str, demo_trace: DemoTrace, strict: bool) -> None:
    """Make the trace of a system, and audit it with each backend."""
    trace = folder / "trace"
    arguments: tuple[str, ...] = (
        "generate",
        demo_trace.preset or "",
        "--events",
        str(TRACED_EVENTS),
        "--seed",
        str(TRACED_SEED),
    )
    if demo_trace.preset is None:
        arguments = ("record", "fast", "--case", str(write_traced_case(folder, SYSTEMS[system], demo_trace.level)))
    if demo.make_files(f"trace {arguments[0]} {arguments[1]}", "trace", *arguments, "--out", str(trace)):
        for backend in BACKENDS if strict else demo_trace.engines:
            out = folder / backend
            what = f"audit of {system}, {backend}"
            demo.part(what, "audit", str(trace), "--backend", backend, "--out", str(out), engine=backend)


def request_parts(
    demo: Demo, folder: Path, profile: str, others: str | None, strict: bool, short: bool = False
) -> None:
    """Ask for every part; of the proofs, a short run asks for those of the systems that the change touches."""
    for name, system in SYSTEMS.items():
        for subject, stands_for_others in demo_subjects(system, strict, short).items():
            what, own = f"conform {subject} ({name})", profile if stands_for_others else others or profile
            demo.part(what, "conform", subject, "--system", name, "--profile", own)
    for name, parts in AUDITED.items():
        audit_trace(demo, folder / name, name, parts.demo_trace, strict and not short)
    touched = find_touched_systems(list_changed_files()) if short else list(SYSTEM_EVIDENCE)
    if touched:
        proofs = "long" if strict and not short and others is None else "ci"
        demo.part("prove", "prove", "--profile", proofs, *(part for name in touched for part in ("--system", name)))


def write_results(stream: list[dict[str, Any]], folder: Path) -> None:
    """Write the results as a stream and as a page, and print where they stand."""
    files.write_text(folder / "results.jsonl", "".join(json.dumps(result) + "\n" for result in stream))
    files.write_text(folder / "results.html", FORMATS["html"](stream))
    terminal.echo(f"each rule and level: {folder / 'results.html'} and {folder / 'results.jsonl'}")


@click.command(cls=OneLineErrors)
@click.option("--profile", default="dev", show_default=True, help="The profile of the conformance runs.")
@click.option("--others", metavar="PROFILE", help="That of the reference and of older releases (default: the same).")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write results.jsonl and results.html there, with each rule and level.",
)
@click.option("--strict", is_flag=True, help="A missing tool is a failure; without --others, proofs go further.")
@click.option("--short", is_flag=True, help="The newest releases, and the proofs of the systems that a change touches.")
def main(profile: str, others: str | None, out: Path | None, strict: bool, short: bool) -> None:
    """Run every part once and print one table of at most 40 lines; the files of --out hold the verdict of each rule."""
    demo = Demo()
    try:
        with files.scratch_folder() as folder, demo:
            request_parts(demo, folder, profile, others, strict, short)
            demo.finish()
    finally:
        terminal.make_console().print(results.summary_table(demo.results))
        if out is not None:
            write_results(demo.results, out)
    terminal.echo(f"skipped for want of a tool: {demo.missing}")
    if demo.worst:
        terminal.echo("something was violated or not checked: see the table")
    elif demo.missing and strict:
        terminal.echo("a tool is missing, and this run was asked to be strict")
    sys.exit(1 if demo.worst or (strict and demo.missing) else 0)
