"""A page of docs/ played as it stands: its files are written, its commands run, what it shows is looked for."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str

    @property
    def file(self) -> str | None:
        """The name of the file that it is, if its first line says one."""
        named = re.match(r"# (\w+\.py)\n", self.text)
        return None if named is None else named[1]


class Command(NamedTuple):
    """A command, the exit code that the page names, and lines that it prints."""

    line: str
    code: int
    output_lines: tuple[str, ...]

    def run(self, folder: Path, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
        """Run it in that folder, with this Python and its packages: if no other is given, those of this checkout."""
        line = re.sub(r"\bpython ", f"{python} ", self.line)
        line = re.sub(r"^entrycache ", f"{python} -m entrycache_cli ", line)
        argv = [word_match for word in shlex.split(line, comments=True) for word_match in _matching(word, folder)]
        return subprocess.run(argv, capture_output=True, text=True, cwd=folder, check=False)

    def check(self, folder: Path, python: str = sys.executable) -> None:
        """Run it, and hold it to what the page tells."""
        done = self.run(folder, python)
        assert done.returncode == self.code, f"{self.line}\n{done.stdout}{done.stderr}"
        for line in self.output_lines:
            assert line in done.stdout, f"{line!r} is not what {self.line} prints:\n{done.stdout}"


def _matching(word: str, folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.glob(word)] if "*" in word else [word]


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in their order."""
    word_match = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.S | re.M)
    return [Block(*block) for block in word_match]


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block."""
    for line, output_lines in re.findall(r"^\$ ([^\n]*)\n((?:[^$\n][^\n]*\n)*)", block.text, re.M):
        exit_code = re.search(r"# exits (\d+)", line)
        yield Command(line, int(exit_code[1]) if exit_code else 0, tuple(output_lines.splitlines()))


def play(
    page: Path, folder: Path, written: Callable[[Path], None] = lambda path: None, python: str = sys.executable
) -> int:
    """Write the files and run the commands of a page, in their order; the number of commands."""
    count = 0
    for block in blocks(page):
        if block.language == "python" and block.file is not None:
            path = folder / block.file
            path.write_text(block.text, encoding="utf-8")
            written(path)
        for command in commands(block) if block.language == "console" else ():
            command.check(folder, python)
            count += 1
    return count
