"""The command `entrycache serve`: speak the protocol for a subject on stdin and stdout.

A released jar replaces this process by its JVM. A class of an author and our own subjects are served in this process;
nothing that searches or reports is imported for them.
"""

import os
import sys

import click

from entrycache_cli.commands.options import exits_with_code
from entrycache_conformance.java import driver, releases
from entrycache_conformance.resolve import load_class, open_in_process, subject_names
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol import errors, server
from entrycache_protocol.server import TypedAnswerer, serve_requests


@click.command("serve")
@click.argument("subject")
@click.option("--classpath", metavar="PATH", help="Jars or folders in front of a released jar's dependencies.")
@click.option("--system", metavar="S", help=f"The system, if SUBJECT offers several (default: {next(iter(SYSTEMS))}).")
@click.option("--calls", is_flag=True, help="Print the released method that each operation calls, and exit.")
@exits_with_code
def command(subject: str, classpath: str | None, system: str | None, calls: bool) -> int:
    """Speak the protocol for SUBJECT on stdin and stdout."""
    if driver.is_released(subject):
        argv = driver.released_command(subject, classpath)
        sys.stdout.flush()
        os.execv(argv[0], [*argv, *(["--calls"] if calls else [])])
    if calls or classpath is not None:
        example = releases.example_subjects()[0]
        raise errors.UsageError(
            f"--calls and --classpath go with a released jar such as {example}, not with {subject!r}"
        )
    module, _, in_module = subject.partition(":")
    if in_module.isidentifier():
        kind = load_class(module, in_module)
        _hold_to_system(subject, kind.system, system)
        return server.serve(kind)
    tested = open_in_process(subject, system)
    if tested is None:
        raise errors.UsageError(f"unknown subject {subject!r}; expected {subject_names()}")
    _hold_to_system(subject, tested.declaration.system.name, system)
    return serve_requests(TypedAnswerer(tested))


def _hold_to_system(subject: str, offered: str, system: str | None) -> None:
    if system not in {None, offered}:
        raise errors.UsageError(f"{subject} does not offer {system!r}; it offers: {offered}")
