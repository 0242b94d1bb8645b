"""The command `entrycache report`, which prints files of results in another format."""

from pathlib import Path
from typing import Any, Final

import click

from entrycache_cli.commands.options import exits_with_code
from entrycache_cli.report import content, formats, run_text, terminal
from entrycache_cli.report.results import read_results, result_kind, verdict_table
from entrycache_conformance.report import RunReport
from entrycache_protocol.strict_json import DIGEST

TERMINAL: Final = "terminal"


@click.command("report")
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--to", "form", required=True, type=click.Choice([TERMINAL, *formats.FORMATS]), help="The format to print."
)
@exits_with_code
def command(paths: tuple[Path, ...], form: str) -> int:
    """Print the results in each FILE, together, in another format.

    A FILE holds what --json printed, one object a line, at most 16 MiB. With --to html, several results stand side by
    side on one page.
    """
    results = [note_missing_digest(result) for path in paths for result in read_results(path)]
    if form == TERMINAL:
        out = terminal.make_console()
        out.print(verdict_table(results))
        for result in results:
            if result_kind(result, "a result") == "conform":
                report = RunReport.from_json(result)
                run_text.print_verdict(out, report, report.subject + content.given_text(report))
    else:
        terminal.echo(formats.FORMATS[form](results), nl=False)
    return 0


def note_missing_digest(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result with an exception if nothing shows that nobody has edited it."""
    if DIGEST in result:
        return result
    exception = {"kind": "no digest", "what": "the result", "reason": "somebody may have edited it"}
    return {**result, "exceptions": [*result.get("exceptions", ()), exception]}
