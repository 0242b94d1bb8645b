"""The command `entrycache init`: write a first adapter in one of five languages.

The adapters stand in `entrycache_cli/templates/adapters`, a folder a language. Each holds a naive cache that conforms
at level `range`. `write_adapter` copies one into a user's folder, with vectors and, for Java, with the classes that
speak the protocol. Adapters of other kinds of caches stand in `templates/kinds`, a folder a kind and a language.
"""

import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import click

from entrycache_cli.commands.options import exits_with_code
from entrycache_cli.report.terminal import echo
from entrycache_conformance.java.releases import maven_project
from entrycache_conformance.vectors.packs import MANIFEST_NAME, SMALL_PACK, SUFFIX
from entrycache_evidence.core.checkout import locate_spec_folder
from entrycache_protocol.errors import UsageError, escape_unprintable
from entrycache_protocol.files import atomic_path

TEMPLATES: Final = Path(__file__).parents[1] / "templates" / "adapters"
KIND_TEMPLATES: Final = TEMPLATES.parent / "kinds"

BROKER: Final = "broker"
"""The kind of cache that an adapter has unless another is requested."""

KIND_LEVELS: Final = {BROKER: "range", "lru": "cache", "ttl-lru": "queue", "log": "manager"}
"""The kinds of caches, and the last level at which the adapter of each conforms."""

BUILD_FILES: Final = frozenset({"go.mod", "Cargo.toml", "rustfmt.toml", "pom.xml"})
"""The files of an adapter that build it, whatever its kind."""


class Language(NamedTuple):
    """The commands that build, start and test an adapter of one language, from within its folder.

    `tool` is the program that must be installed. `build` is empty if nothing is built. `test` plays vectors in the
    language itself; it is empty if `entrycache vectors consume` does so. `named` is a class that runs in this Python.
    """

    tool: str
    build: str
    command: str
    test: str = ""
    named: str = ""

    @property
    def subject(self) -> str:
        """The subject as a command line names it."""
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


def write_adapter(language: str, folder: Path, kind: str = BROKER) -> list[Path]:
    """Write the adapter of a language and a kind into a folder; return its files in the order of their names.

    Raises:
        UsageError: there is no such adapter, or one of the files exists already; then none is written.
        WriteError: the folder cannot be written to.
    """
    files = _files(language, kind)
    contents = {folder / name: content for name, content in files.items()}
    for path in sorted(contents):
        if path.exists() or path.is_symlink():
            raise UsageError(f"{path}: exists already and is not overwritten; name another folder")
    for path, content in sorted(contents.items()):
        with atomic_path(path) as temporary:
            temporary.write_bytes(content)
    return sorted(contents)


def _files(language: str, kind: str) -> dict[Path, bytes]:
    """Return the content of each file of an adapter.

    Java adapters speak the protocol with the classes of our own drivers. A Python template ends in ``.txt``, because it
    is no module of this package. A language that plays vectors itself gets the small pack and its manifest.
    """
    own = TEMPLATES / language
    files = {path.relative_to(own): path for path in own.rglob("*") if path.is_file()}
    if language == "java":
        protocol = maven_project() / "protocol"
        files |= {path.relative_to(protocol): path for path in protocol.rglob("src/main/java/**/*.java")}
    if kind != BROKER:
        own = KIND_TEMPLATES / kind / language
        if not own.is_dir():
            languages = ", ".join(sorted(path.name for path in own.parent.iterdir()))
            raise UsageError(f"there is no adapter of kind {kind} in {language} yet; expected one of: {languages}")
        files = {name: path for name, path in files.items() if path.name in BUILD_FILES or "protocol" in name.parts}
        files |= {path.relative_to(own): path for path in own.rglob("*") if path.is_file()}
    elif LANGUAGES[language].test:
        published = locate_spec_folder() / "vectors"
        files |= {Path("vectors", name): published / name for name in (MANIFEST_NAME, f"{SMALL_PACK}{SUFFIX}")}
    return {Path(str(name).removesuffix(".txt")): path.read_bytes() for name, path in files.items()}


@click.command("init")
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False), default=Path())
@click.option("--lang", "language", type=click.Choice(list(LANGUAGES)), required=True, help="The adapter's language.")
@click.option(
    "--kind",
    type=click.Choice(list(KIND_LEVELS)),
    default=BROKER,
    show_default=True,
    help="The kind of cache: a broker's, or a plain one with the declaration that fits it.",
)
@exits_with_code
def command(directory: Path, language: str, kind: str) -> int:
    """Write a first adapter into DIRECTORY (default: the current folder).

    It holds a naive cache, in at most 150 lines that are not blank. Replace that cache by calls of your own. A broker's
    cache conforms at level range; vectors, and a test that plays them without Python, come with it. A cache of kind lru
    (a limit in entries), ttl-lru (also a time to live) or log (append only) has a declaration that says what such a
    cache lacks. No file is overwritten.
    """
    chosen = LANGUAGES[language] if kind == BROKER else LANGUAGES[language]._replace(test="")
    for path in write_adapter(language, directory, kind):
        echo(escape_unprintable(f"wrote {path}"))
    echo("\nthen:")
    if directory != Path():
        echo(escape_unprintable(f"  cd {shlex.quote(str(directory))}"))
    if not chosen.named and shutil.which(chosen.tool) is None:
        echo(f"  install {chosen.tool}: it is not on the path")
    if chosen.build:
        echo(f"  {chosen.build}")
    if chosen.test:
        echo(f"  {chosen.test}")
    for judged in ("smoke", "conform"):
        level = f" --level {KIND_LEVELS[kind]}" if judged == "conform" else ""
        echo(f"  entrycache {judged} {chosen.subject}{level}")
    if kind == "ttl-lru":
        echo("  entrycache conform my_cache:MyOrder --level cache")
    return 0
