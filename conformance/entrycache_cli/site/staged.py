"""The Markdown files of a checkout, laid out for the generator of the site, with whatever they link to."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from entrycache_protocol.output import write_text

FIRST: Final = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
FOLDERS: Final = ("docs", "spec")
LINK: Final = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<to>[^()\s]+)\)")
FENCED: Final = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
HOSTED: Final = re.compile(r"[a-z]+:|#")
"""A link out of the checkout, or to a place of its own page."""


def stage(root: Path, out: Path, made: Mapping[str, str]) -> None:
    """Write all pages below `out`, under the names that they have in the checkout; `made`: pages that no file holds.

    A file that a page links to comes along; a folder is its README, or plain text where it has none,
    as is a file whose name has no suffix.
    """
    shutil.rmtree(out, ignore_errors=True)
    pages = [root / name for name in FIRST]
    pages += [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.md"))]
    todo = {path: path.read_text(encoding="utf-8") for path in pages}
    todo |= {root / name: text for name, text in made.items()}
    done: set[Path] = set()
    while todo:
        page, text = todo.popitem()
        done.add(page)
        linked: set[Path] = set()
        text = _linked(text, page, root, linked, frozenset(root / name for name in made))
        write_text(_target(page, root, out), text)
        for path in sorted(linked - done - todo.keys()):
            if path.suffix == ".md":
                todo[path] = path.read_text(encoding="utf-8")
            else:
                done.add(path)
                shutil.copyfile(path, _target(path, root, out))


def _target(path: Path, root: Path, out: Path) -> Path:
    target = out / path.relative_to(root)
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def _linked(text: str, page: Path, root: Path, linked: set[Path], made: frozenset[Path]) -> str:
    """The text with its links to folders put right; the files that it links to are added to `linked`."""

    def put_right(match: re.Match[str]) -> str:
        if HOSTED.match(match["to"]):
            return match[0]
        to, mark, anchor = match["to"].partition("#")
        path = Path(os.path.normpath(page.parent / to))
        if path in made:
            return match[0]
        if path.is_file() and not path.suffix:
            return match["text"]  # the generator takes it for a folder
        if path.is_dir():
            path /= "README.md"
            if not path.is_file():
                return match["text"]
            to = f"{to.rstrip('/')}/README.md"
        if path.is_file() and path.is_relative_to(root):
            linked.add(path)
        return f"{match['image']}[{match['text']}]({to}{mark}{anchor})"

    parts = FENCED.split(text)
    return "".join(part if at % 2 else LINK.sub(put_right, part) for at, part in enumerate(parts))
