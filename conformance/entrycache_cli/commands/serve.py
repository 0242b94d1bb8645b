"""The command `entrycache serve`: speak the protocol for a subject on stdin and stdout.

A released jar replaces this process by its JVM. If the variants of its classes must be found first, because it is not
pinned or some are replaced, the JVM is a child of this process, which declares these variants. A class of an author
and our own subjects are served in this process; nothing that searches or
reports is imported for them.
"""

import os
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

import click

from entrycache_cli.commands.options import exits_with_code
from entrycache_conformance import resolve
from entrycache_conformance.java import driver, releases
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol import errors, server
from entrycache_protocol.server import TypedAnswerer, serve_requests

SERVED_SECONDS: Final = 3_600.0
"""The time that a run may take; whoever sends it has a time-out of its own."""


@click.command("serve")
@click.argument("subject")
@click.option("--classpath", metavar="PATH", help="Jars or folders in front of a released jar's dependencies.")
@click.option("--system", metavar="S", help=f"The system, if SUBJECT offers several (default: {next(iter(SYSTEMS))}).")
@click.option("--calls", is_flag=True, help="Print the released method that each operation calls, and exit.")
@exits_with_code
def command(subject: str, classpath: str | None, system: str | None, calls: bool) -> int:
    """Speak the protocol for SUBJECT on stdin and stdout."""
    if resolve.is_released(subject) or resolve.is_jar(subject):
        return _serve_released(resolve.SubjectChoice(subject, classpath=classpath, system=system), calls)
    if calls or classpath is not None:
        example = releases.example_subjects()[0]
        raise errors.UsageError(
            f"--calls and --classpath go with a released jar such as {example}, not with {subject!r}"
        )
    module, _, in_module = subject.partition(":")
    if in_module.isidentifier():
        kind = resolve.load_class(module, in_module)
        _hold_to_system(subject, kind.system, system)
        return server.serve(kind)
    tested = resolve.open_in_process(subject, system)
    if tested is None:
        raise errors.UsageError(f"unknown subject {subject!r}; expected {resolve.subject_names()}")
    _hold_to_system(subject, tested.declaration.system.name, system)
    return serve_requests(TypedAnswerer(tested))


def _serve_released(choice: resolve.SubjectChoice, calls: bool) -> int:
    """Replace this process by the JVM of a release, or serve jars whose variants must be found first."""
    if choice.classpath is None and releases.find_release(choice.name or "") is not None:
        return _exec(driver.released_command(choice.name or ""), calls)
    from entrycache_conformance import unpinned  # noqa: PLC0415 - few subjects need it

    fitted = resolve.resolve_subject(choice._replace(timeout_seconds=SERVED_SECONDS))
    assert isinstance(fitted, unpinned.FittedSubject)
    if not calls:
        return unpinned.serve(fitted)
    fitted.close()
    return _exec(fitted.process.argv, calls)


def _exec(argv: Sequence[str], calls: bool) -> NoReturn:
    """Replace this process by a driver."""
    sys.stdout.flush()
    os.execv(argv[0], [*argv, *(["--calls"] if calls else [])])


def _hold_to_system(subject: str, offered: str, system: str | None) -> None:
    if system not in {None, offered}:
        raise errors.UsageError(f"{subject} does not offer {system!r}; it offers: {offered}")
