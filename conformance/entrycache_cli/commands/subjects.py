"""The command `entrycache subjects`: list what can be tested here by name.

`named_subjects` yields the references, our fast caches, the released jars and one seeded fault of each system. A jar
that cannot run on this machine is listed with the reason.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple

import click
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands.options import exits_with_code, json_option
from entrycache_cli.report.terminal import echo, make_console
from entrycache_conformance.java.driver import missing_prerequisite
from entrycache_conformance.java.releases import FAMILIES, releases
from entrycache_conformance.systems import SYSTEMS, reference

OWN_SUBJECTS = (
    ("MODULE:CLASS", "a class of yours in Python: docs/how-to/python-subject.md"),
    ("--command CMD", "a program of yours in any language: entrycache init, docs/how-to/write-an-adapter.md"),
)


class NamedSubject(NamedTuple):
    """A subject with its system, a description, and the reason why it cannot run here (empty if it can)."""

    name: str
    system: str
    what: str
    lacks: str


def named_subjects() -> Iterator[NamedSubject]:
    """Yield every subject that has a name; one seeded fault of a system stands for all of them."""
    for system in SYSTEMS.values():
        yield NamedSubject(reference.REFERENCE_NAME, system.name, "the rules themselves", "")
        if system.fast is not None:
            yield NamedSubject("fast", system.name, "our fast cache", "")
        if system.jvm is not None and system.jvm.name in FAMILIES:
            for release in releases(system.jvm.name):
                yield NamedSubject(
                    release.subject, system.name, f"the released {release.tested_jar}", missing_prerequisite(release)
                )
        if system.faults:
            count = len(system.faults)
            yield NamedSubject(
                next(iter(system.faults)),
                system.name,
                f"one of {count} seeded faults: `entrycache faults` lists them",
                "",
            )


@click.command("subjects")
@json_option
@exits_with_code
def command(as_json: bool) -> int:
    """List what can be tested here by name, and why the rest cannot."""
    subjects = list(named_subjects())
    if as_json:
        entries = [
            {"name": one.name, "system": one.system, "what": one.what, "runs": not one.lacks, "lacks": one.lacks}
            for one in subjects
        ]
        echo(json.dumps({"schema": 1, "subjects": entries}))
        return 0
    table = Table(title="subjects: entrycache conform NAME --system SYSTEM", title_justify="left")
    for column in ("name", "system", "what", "runs here"):
        table.add_column(column, overflow="fold")
    for one in subjects:
        table.add_row(
            *(Text(part) for part in (one.name, one.system, one.what, (one.lacks and f"no: {one.lacks}") or "yes"))
        )
    for name, what in OWN_SUBJECTS:
        table.add_row(Text(name), Text("any"), Text(what), Text("yes"))
    make_console().print(table)
    return 0
