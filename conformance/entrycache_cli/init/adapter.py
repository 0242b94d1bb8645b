"""Writing an adapter to begin with into a folder of the user's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.releases import sources
from entrycache_protocol.errors import UsageError
from entrycache_protocol.output import write_text

TEMPLATES: Final = Path(__file__).parent / "templates"


class Language(NamedTuple):
    """How an adapter of that language is built and started, from within its folder.

    `tool`: the program that has to be there; `build`: the shell command that builds it, "" where none does.
    """

    tool: str
    build: str
    command: str


LANGUAGES: Final[Mapping[str, Language]] = {
    "python": Language("python", "", "python my_cache.py"),
    "java": Language("mvn", "mvn -q package", "java -cp target/classes:target/lib/* mycache.MyCache"),
    "go": Language("go", "go build -o my-cache .", "./my-cache"),
    "rust": Language("cargo", "cargo build --release", "target/release/my-cache"),
    "node": Language("node", "", "node cache.mjs"),
}


def write_adapter(language: str, folder: Path) -> list[Path]:
    """Write the adapter of a language into a folder; the files, in the order of their names.

    Raises:
        UsageError: one of them is there already; none is written then.
        Unwritten: the folder cannot be written to.
    """
    texts = {folder / name: text for name, text in _files(language).items()}
    for path in sorted(texts):
        if path.exists() or path.is_symlink():
            raise UsageError(f"{path}: is there already, and is not written over; name another folder")
    for path, text in sorted(texts.items()):
        write_text(path, text)
    return sorted(texts)


def _files(language: str) -> dict[Path, str]:
    """The text of each file; in Java the protocol is spoken by the same classes as in our own drivers.

    A file in Python ends on ``.txt`` here: it is a user's, and no module of this package.
    """
    own = TEMPLATES / language
    found = {path.relative_to(own): path for path in own.rglob("*") if path.is_file()}
    if language == "java":
        protocol = sources() / "protocol"
        found |= {path.relative_to(protocol): path for path in protocol.rglob("src/main/java/**/*.java")}
    return {Path(str(name).removesuffix(".txt")): path.read_text(encoding="utf-8") for name, path in found.items()}
