"""Lay out the pages of the site: `python -m entrycache_cli.site FOLDER`; `make site` builds it then."""

from __future__ import annotations

from pathlib import Path

import click

from entrycache_cli.site.rule_pages import finding_pages, rule_pages
from entrycache_cli.site.staged import stage
from entrycache_evidence.rulebook.registry import checkout
from entrycache_protocol.errors import MissingPrerequisite


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def main(folder: Path) -> None:
    """Write the pages below FOLDER, which is emptied."""
    root = checkout()
    if root is None:
        raise click.ClickException(str(MissingPrerequisite("the site needs a source checkout")))
    stage(root, folder, {**rule_pages(root), **finding_pages(root)})


if __name__ == "__main__":
    main()
