"""`entrycache init`."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import click

from entrycache_cli.commands.options import exits_with_code
from entrycache_cli.init.adapter import LANGUAGES, write_adapter
from entrycache_cli.report.terminal import echo
from entrycache_protocol.messages import escape_unprintable


@click.command("init")
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False), default=Path())
@click.option("--lang", "language", type=click.Choice(list(LANGUAGES)), required=True, help="The adapter's language.")
@exits_with_code
def command(directory: Path, language: str) -> int:
    """Write an adapter to begin with into DIRECTORY (default: here).

    It holds a naive cache that conforms at level range, in at most 150 lines that are not blank; put calls of your
    own cache in its place. Beside it stand vectors, and a test that plays them without Python. No file is written over.
    """
    chosen = LANGUAGES[language]
    for path in write_adapter(language, directory):
        echo(escape_unprintable(f"wrote {path}"))
    echo("\nthen:")
    if directory != Path():
        echo(escape_unprintable(f"  cd {shlex.quote(str(directory))}"))
    if not chosen.named and shutil.which(chosen.tool) is None:
        echo(f"  install {chosen.tool}: it is not on the path")
    if chosen.build:
        echo(f"  {chosen.build}")
    if chosen.test:
        echo(f"  {chosen.test}")
    for judged in ("smoke", "conform"):
        level = " --level range" if judged == "conform" else ""
        echo(f"  entrycache {judged} {chosen.subject}{level}")
    return 0
