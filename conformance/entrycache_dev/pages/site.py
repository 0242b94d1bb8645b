"""Stage the pages of the site: the Markdown files of the checkout, and the pages that are rendered from data.

`python -m entrycache_dev.pages.site FOLDER` writes the pages; `make site` then builds the site. `rules` renders a page
for each rule, `rendered` lists the others. `stage_pages` copies every page with the files that it links to.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

from entrycache_dev.pages.links import Site, link_names, rewrite_links
from entrycache_dev.pages.rendered import PAGES, draw_pictures, render_pages
from entrycache_dev.pages.rules import finding_pages, rule_pages
from entrycache_evidence.core import checkout
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_protocol.files import write_text

ROOT_PAGES: Final = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
PAGE_FOLDERS: Final = ("docs", "spec")


def render_site(root: Path) -> dict[str, str]:
    """Return the text of each page that no file holds as it stands, by its name."""
    return {**rule_pages(root), **finding_pages(root), **render_pages(root)}


def stage_pages(root: Path, out: Path, generated: Mapping[str, str]) -> None:
    """Write all pages below `out`, under the names that they have in the checkout.

    `generated` holds pages that no file holds as they stand. A linked file is copied too.
    """
    shutil.rmtree(out, ignore_errors=True)
    pages = [root / name for name in ROOT_PAGES]
    pages += [path for folder in PAGE_FOLDERS for path in sorted((root / folder).rglob("*.md"))]
    out.mkdir(parents=True)
    shutil.copyfile(STYLE, out / STYLE.name)
    todo = {path: path.read_text(encoding="utf-8") for path in pages}
    todo |= {root / name: text for name, text in generated.items()}
    site = Site(root, frozenset(generated), {page.source: page.name for page in PAGES})
    done: set[Path] = set()
    while todo:
        page, text = todo.popitem()
        done.add(page)
        linked: set[Path] = set()
        text = link_names(rewrite_links(text, page, site, linked), page.relative_to(root).as_posix())
        write_text(_target(page, root, out), text)
        for path in sorted(linked - done - todo.keys()):
            if path.suffix == ".md":
                todo[path] = path.read_text(encoding="utf-8")
            else:
                done.add(path)
                shutil.copyfile(path, _target(path, root, out))


STYLE: Final = Path(__file__).with_name("site.css")


def _target(path: Path, root: Path, out: Path) -> Path:
    target = out / path.relative_to(root)
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def main(folder: Path) -> None:
    """Write the pages below FOLDER, which is emptied."""
    root = checkout.locate_checkout()
    if root is None:
        raise click.ClickException(str(MissingPrerequisite("the site needs a source checkout")))
    stage_pages(root, folder, render_site(root))
    draw_pictures(root, folder)


if __name__ == "__main__":
    main()
