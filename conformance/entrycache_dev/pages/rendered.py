"""The pages and pictures of the site that are rendered from data or from code.

`PAGES` lists them. In the checkout a link leads to `source`, the file that the page is rendered from; on the site the
same link leads to the page. Nothing here measures or runs what is tested.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_dev import audit_bench, audit_bench_page, audit_mutations
from entrycache_dev.bench import page as bench_page
from entrycache_dev.bench import result
from entrycache_dev.matrix import machine_matrix, search_matrix
from entrycache_dev.matrix.__main__ import render_committed as render_mutation_matrix
from entrycache_dev.pages import evidence, faults
from entrycache_league import page as policy_page


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
