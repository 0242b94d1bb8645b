"""The pages and pictures of the site that no file of the checkout holds, each rendered from data or from code.

`PAGES` lists them. In the checkout a link leads to `source`, the file that the page is rendered from; on the site the
same link leads to the page. Nothing here measures or runs what is tested.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple


class RenderedPage(NamedTuple):
    """A page of the site: its name, the file that it is rendered from, its text, and what draws its pictures."""

    name: str
    source: str
    render: Callable[[Path], str]
    pictures: Mapping[str, Callable[[Path], None]] = {}


PAGES: Final[tuple[RenderedPage, ...]] = ()
"""The pages; each function receives the root of the checkout."""


def render_pages(root: Path) -> dict[str, str]:
    """Return the text of each page by its name."""
    return {page.name: page.render(root) for page in PAGES}
