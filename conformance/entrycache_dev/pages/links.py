"""Links of Markdown pages: find them, and lead them to the pages of the site.

`Site` knows which pages only the site has. `rewrite_links` adjusts the links of one page, and collects the files that
the page needs.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

LINK: Final = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<to>[^()\s]+)\)")
FENCED: Final = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
EXTERNAL_LINK: Final = re.compile(r"[a-z]+:|#")
"""A link that leaves the checkout, or leads to a place of its own page."""


@dataclass(frozen=True)
class Site:
    """The pages and pictures that no file of the checkout holds.

    `rendered` maps a file of the checkout to the page that is rendered from it: a link to the file leads to the page.
    """

    root: Path
    names: frozenset[str] = frozenset()
    rendered: Mapping[str, str] = field(default_factory=dict)

    def locate_page(self, path: Path, page: Path) -> Path | None:
        """Return the page of the site that a link from `page` to this path leads to, if no file holds that page."""
        name = os.path.relpath(path, self.root)
        name = self.rendered.get(name, name)
        return self.root / name if name in self.names and self.root / name != page else None


def rewrite_links(text: str, page: Path, site: Site, linked: set[Path]) -> str:
    """Return the text with adjusted links, and add the linked files to `linked`.

    A link to a folder leads to its README. If there is none, or if a file's name has no suffix, the link becomes plain
    text.
    """

    def put_right(match: re.Match[str]) -> str:
        if EXTERNAL_LINK.match(match["to"]):
            return match[0]
        to, mark, anchor = match["to"].partition("#")
        path = Path(os.path.normpath(page.parent / to))
        if (rendered := site.locate_page(path, page)) is not None:
            return f"{match['image']}[{match['text']}]({os.path.relpath(rendered, page.parent)}{mark}{anchor})"
        if path.is_file() and not path.suffix:
            return match["text"]  # the generator takes it for a folder
        if path.is_dir():
            path /= "README.md"
            if not path.is_file():
                return match["text"]
            to = f"{to.rstrip('/')}/README.md"
        if path.is_file() and path.is_relative_to(site.root):
            linked.add(path)
        return f"{match['image']}[{match['text']}]({to}{mark}{anchor})"

    parts = FENCED.split(text)
    return "".join(part if at % 2 else LINK.sub(put_right, part) for at, part in enumerate(parts))
