"""Writing an adapter to begin with into a folder of the user's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.releases import maven_project
from entrycache_conformance.vectors.packs import MANIFEST_NAME, SMALL_PACK, SUFFIX
from entrycache_evidence.core.checkout import locate_spec_folder
from entrycache_protocol.errors import UsageError
from entrycache_protocol.files import atomic_path

TEMPLATES: Final = Path(__file__).parent / "templates"


class Language(NamedTuple):
    """How an adapter of that language is built and started, from within its folder.

    `tool`: the program that has to be there; `build`: the shell command that builds it, "" where none does; `test`:
    the one that plays vectors on it in its own language, "" where that is `entrycache vectors consume`; `named`: a
    class that is judged without a program of its own, by the very Python that entrycache runs on.
    """

    tool: str
    build: str
    command: str
    test: str = ""
    named: str = ""

    @property
    def subject(self) -> str:
        """How a command line names what is judged."""
        return self.named or f'--command "{self.command}"'


LANGUAGES: Final[Mapping[str, Language]] = {
    "python": Language("python", "", "python my_cache.py", named="my_cache:MyCache"),
    "java": Language(
        *("mvn", "mvn -q package -DskipTests", "java -cp target/classes:target/lib/* mycache.MyCache", "mvn -q test")
    ),
    "go": Language("go", "go build -o my-cache .", "./my-cache", "go test ./..."),
    "rust": Language("cargo", "cargo build --release", "target/release/my-cache", "cargo test --release"),
    "node": Language("node", "", "node cache.mjs", "node --test"),
}


def write_adapter(language: str, folder: Path) -> list[Path]:
    """Write the adapter of a language into a folder; the files, in the order of their names.

    Raises:
        UsageError: one of them is there already; none is written then.
        Unwritten: the folder cannot be written to.
    """
    contents = {folder / name: content for name, content in _files(language).items()}
    for path in sorted(contents):
        if path.exists() or path.is_symlink():
            raise UsageError(f"{path}: is there already, and is not written over; name another folder")
    for path, content in sorted(contents.items()):
        with atomic_path(path) as beside:
            beside.write_bytes(content)
    return sorted(contents)


def _files(language: str) -> dict[Path, bytes]:
    """The content of each file; in Java the protocol is spoken by the same classes as in our own drivers.

    A file in Python ends on ``.txt`` here: it is a user's, and no module of this package. Where the language plays
    vectors itself, the small pack comes along, with the manifest that has its hash.
    """
    own = TEMPLATES / language
    found = {path.relative_to(own): path for path in own.rglob("*") if path.is_file()}
    if language == "java":
        protocol = maven_project() / "protocol"
        found |= {path.relative_to(protocol): path for path in protocol.rglob("src/main/java/**/*.java")}
    if LANGUAGES[language].test:
        published = locate_spec_folder() / "vectors"
        found |= {Path("vectors", name): published / name for name in (MANIFEST_NAME, f"{SMALL_PACK}{SUFFIX}")}
    return {Path(str(name).removesuffix(".txt")): path.read_bytes() for name, path in found.items()}
