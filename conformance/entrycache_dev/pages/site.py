"""Stage the pages of the site: the Markdown files of the checkout, and the pages that are rendered from data.

`python -m entrycache_dev.pages.site FOLDER` writes the pages; `make site` then builds the site. `rules` renders a page
for each rule, and `PAGES` lists the pages and pictures that are rendered from data or from code; nothing here measures
or runs what is tested. In the checkout a link leads to `source`, the file that a page is rendered from; on the site the
same link leads to the page. `stage_pages` copies every page with the files that it links to.
"""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import click

from entrycache_dev import audit_bench, audit_bench_page, audit_mutations
from entrycache_dev.bench import page as bench_page
from entrycache_dev.bench import result
from entrycache_dev.matrix import machine_matrix, search_matrix
from entrycache_dev.matrix.__main__ import render_committed as render_mutation_matrix
from entrycache_dev.pages import evidence, faults
from entrycache_dev.pages.links import Site, link_names, rewrite_links
from entrycache_dev.pages.rules import finding_pages, rule_pages
from entrycache_evidence.core import checkout
from entrycache_league import page as policy_page
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_protocol.files import write_text

ROOT_PAGES: Final = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
PAGE_FOLDERS: Final = ("docs", "spec")


class RenderedPage(NamedTuple):
    """A page of the site: its name, the file that it is rendered from, and its text.

    `draw` receives the root of the checkout and the path of the staged page, and draws the pictures beside it.
    """

    name: str
    source: str
    render: Callable[[Path], str]
    draw: Callable[[Path, Path], None] | None = None


FOLDER: Final = "conformance/entrycache_dev"
NUMBERS: Final = f"{FOLDER}/bench/numbers.json"
AUDITS: Final = f"{FOLDER}/audit-numbers.json"
POLICIES: Final = f"{FOLDER}/policy-comparison.json"

PAGES: Final = (
    RenderedPage(evidence.PAGE, evidence.PAGE, evidence.render_checkout),
    RenderedPage(
        "docs/explanation/policy-comparison.md",
        POLICIES,
        lambda root: policy_page.render_page(policy_page.read_numbers(root / POLICIES)),
        lambda root, page: policy_page.draw_charts(policy_page.read_numbers(root / POLICIES), page),
    ),
    RenderedPage(
        "docs/reference/numbers.md",
        NUMBERS,
        lambda root: bench_page.render_page(result.read_result(root / NUMBERS), "numbers.svg"),
        lambda root, page: bench_page.draw_picture(result.read_result(root / NUMBERS), page.with_suffix(".svg")),
    ),
    RenderedPage(
        "docs/reference/audit-speed.md",
        AUDITS,
        lambda root: audit_bench_page.render_audit_page(audit_bench.read_numbers(root / AUDITS), "audit-speed.svg"),
        lambda root, page: audit_bench_page.draw_audit_costs(
            audit_bench.read_numbers(root / AUDITS), page.with_suffix(".svg")
        ),
    ),
    RenderedPage(
        "docs/reference/seeded-faults.md",
        f"{FOLDER}/pages/seeded-faults.jsonl",
        lambda root: faults.render_page(faults.read_records()),
    ),
    RenderedPage(
        "docs/reference/mutation-matrix.md", f"{FOLDER}/matrix/matrix.json", lambda root: render_mutation_matrix()
    ),
    RenderedPage(
        "docs/reference/search-matrix.md",
        f"{FOLDER}/matrix/search-matrix.json",
        lambda root: search_matrix.render_committed(),
    ),
    RenderedPage(
        "docs/reference/machine-matrix.md",
        f"{FOLDER}/matrix/machine-matrix.json",
        lambda root: machine_matrix.render_committed(),
    ),
    RenderedPage(
        "docs/reference/audit-mutations.md",
        f"{FOLDER}/audit_mutations.json",
        lambda root: audit_mutations.render_committed(),
    ),
)
"""The pages; each function receives the root of the checkout."""


def render_pages(root: Path) -> dict[str, str]:
    """Return the text of each page by its name."""
    return {page.name: page.render(root) for page in PAGES}


def draw_pictures(root: Path, out: Path) -> None:
    """Draw the pictures of the pages that are staged below `out`."""
    for page in PAGES:
        if page.draw is not None:
            page.draw(root, out / page.name)


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
