"""The packs of vectors: their cases, their files, and the manifest.

A vector is a case with the reference's outcomes, one line of JSON. A `Pack` holds the vectors of one level of a system;
its cases follow from the seed alone. A pack file is packed with gzip, and the manifest names the packs with the hash of
their text. `find_changed_packs` compares packs with a manifest.
"""

import dataclasses
import gzip
import hashlib
import io
import json
import random
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from entrycache_conformance import generate, judge
from entrycache_conformance.systems import reference, system_named
from entrycache_protocol import errors, files
from entrycache_protocol.case import case_to_json, config_to_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import seeded_draw
from entrycache_reference.rules import SYSTEM_NAMES


class Pack(NamedTuple):
    """A number of cases of one level of a system. `config` names the settings that they vary; None means all."""

    system: str
    level: str
    cases: int
    config: frozenset[str] | None = None

    @property
    def name(self) -> str:
        """The file name without suffix."""
        return f"{self.system}-{self.level}"


_PIP430, _KAFKA, _LEGACY, _SEGMENTED = SYSTEM_NAMES[:4]

_QUEUE: Final = frozenset({"max_size_bytes", "ttl_nanos", "max_requeues", "extend_recently_accessed"})

PACKS: Final = (
    Pack(_PIP430, "range", 3_000, frozenset({"max_size_bytes"})),
    Pack(_PIP430, "queue", 8_000, _QUEUE),
    Pack(_PIP430, "manager", 4_000, _QUEUE | {"watermark", "eviction"}),
    Pack(_PIP430, "reads", 5_000, _QUEUE | {"watermark", "eviction", "storage_entry_size"}),
    Pack(_PIP430, "cursors", 5_000),
    Pack(_PIP430, "limits", 1_000, frozenset({"max_reads_in_flight_bytes", "acquire_timeout_millis", "acquire_queue"})),
    Pack(_PIP430, "pending", 1_000, frozenset()),
    Pack(_PIP430, "ledger", 2_000),
    Pack(_PIP430, "inflight", 1_000),
    Pack(_KAFKA, "cache", 7_000),
    Pack(_KAFKA, "store", 2_000),
    Pack(_KAFKA, "views", 2_000),
    Pack(_KAFKA, "windows", 1_000),
    Pack(_LEGACY, "all", 5_000),
    Pack(_SEGMENTED, "all", 3_000),
)
"""All packs: 50,000 cases."""

SMALL_PACK: Final = "small"
"""The pack that is in the repository and in the wheel: the first cases of every other pack."""

SMALL_PACK_SHARE: Final = 50
"""The share of cases in the small pack: one of so many."""

PACK_NAMES: Final = (SMALL_PACK, *(pack.name for pack in PACKS))


class GeneratedVector(NamedTuple):
    """A vector: the line of its file, the number of its steps, and the reference's coverage in it."""

    line: str
    steps: int
    coverage: judge.Coverage


def make_vectors(name: str, seed: int) -> Iterator[GeneratedVector]:
    """Yield the vectors of a pack in order. The reference is checked against its laws at every step.

    Raises:
        UsageError: there is no pack of that name.
    """
    if name == SMALL_PACK:
        for pack in PACKS:
            yield from islice(_make_pack(pack, seed), pack.cases // SMALL_PACK_SHARE)
        return
    requested = next((pack for pack in PACKS if pack.name == name), None)
    if requested is None:
        raise errors.UsageError(f"there is no pack {name!r}; expected one of: {', '.join(PACK_NAMES)}")
    yield from _make_pack(requested, seed)


def pack_case_count(name: str) -> int:
    """Return the number of cases of a pack."""
    if name == SMALL_PACK:
        return sum(pack.cases // SMALL_PACK_SHARE for pack in PACKS)
    return next(pack.cases for pack in PACKS if pack.name == name)


def _make_pack(pack: Pack, seed: int) -> Iterator[GeneratedVector]:
    declaration = pack_declaration(pack)
    system = declaration.system
    names = [name for name in system.ops_up_to(pack.level) if name not in system.model.guiding]
    menu = system.cases.menu(names, pack.level)
    for number in range(pack.cases):
        yield _make_vector(declaration, menu, f"{pack.name} {number}, seed {seed}")


def pack_declaration(pack: Pack) -> Declaration:
    """Return the declaration behind the cases of a pack: the whole specification of its level, without payload."""
    whole = reference.reference_subject(system_named(pack.system)).declaration
    return dataclasses.replace(whole, config=pack.config, payload=False)


def varied_settings() -> dict[str, dict[str, Any]]:
    """Return the settings that the cases of each pack vary, by pack, with their default values.

    A subject that does not accept one of them skips the cases that give it another value.
    """
    settings = {}
    for pack in PACKS:
        declaration = pack_declaration(pack)
        usual = config_to_json(declaration.system, declaration.base_config())
        settings[pack.name] = {name: value for name, value in usual.items() if declaration.varies(name)}
    return settings


def _make_vector(declaration: Declaration, menu: Sequence[str], called: str) -> GeneratedVector:
    draw = seeded_draw(random.Random(f"vectors: {called}"))
    while True:  # a case may end before its first step
        coverage = judge.Coverage()
        generated = generate.make_case(draw, declaration, menu, coverage)
        if generated.steps:
            break
    write: Callable[[Any], Any] = declaration.system.wire.write_outcome
    outcomes = tuple(write(done.outcome) for done in generated.steps)
    case = dataclasses.replace(generated.case, outcomes=outcomes, note=called)
    return GeneratedVector(json.dumps(case_to_json(case), separators=(",", ":")), len(generated.steps), coverage)


SUFFIX: Final = ".jsonl.gz"
MANIFEST_NAME: Final = "manifest.json"
PACK_FILE: Final = "the pack"


class PackSummary(NamedTuple):
    """The summary of a pack. `sha256` is the hash of its text, because gzip files differ.

    `rules` are those that the reference exercised in it.
    """

    name: str
    cases: int
    steps: int
    text_bytes: int
    sha256: str
    rules: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the object in the manifest."""
        return {**self._asdict(), "file": f"{self.name}{SUFFIX}", "rules": list(self.rules)}


class PackWriter:
    """The text of a pack that is being written: hashed, and packed into memory if it is to be kept."""

    def __init__(self, keeps: bool) -> None:
        self._hash = hashlib.sha256()
        self._file = io.BytesIO()
        self._gzip = gzip.GzipFile("", "wb", 9, self._file, mtime=0) if keeps else None
        self.text_bytes = 0

    def add(self, line: str) -> None:
        """Add one vector."""
        text = f"{line}\n".encode()
        self.text_bytes += len(text)
        self._hash.update(text)
        if self._gzip is not None:
            self._gzip.write(text)

    @property
    def sha256(self) -> str:
        """The hash of the text so far."""
        return self._hash.hexdigest()

    def write(self, path: Path) -> None:
        """Write the file of the pack, whole or not at all.

        Raises:
            WriteError: the disk is full or read-only, or something else is in the way.
        """
        assert self._gzip is not None
        self._gzip.close()
        with files.atomic_path(path) as partial:
            partial.write_bytes(self._file.getvalue())


def build_manifest(filled: Sequence[PackSummary], seed: int) -> dict[str, Any]:
    """Return the manifest of packs. Its own hash is that of the lines `HASH  NAME` of all packs, in their order.

    The cases of the small pack are not counted, because each of them is in another pack.
    """
    named = "".join(f"{pack.sha256}  {pack.name}\n" for pack in filled)
    cases = sum(pack.cases for pack in filled if pack.name != SMALL_PACK)
    sha256 = hashlib.sha256(named.encode()).hexdigest()
    packs = [pack.to_json() for pack in filled]
    return {"schema": 1, "seed": seed, "cases": cases, "sha256": sha256, "varies": varied_settings(), "packs": packs}


def write_manifest(value: dict[str, Any], path: Path) -> None:
    """Write a manifest.

    Raises:
        WriteError: the disk is full or read-only, or something else is in the way.
    """
    files.write_text(path, json.dumps(value, indent=1) + "\n")


def read_manifest(path: Path) -> dict[str, Any]:
    """Read the packs that a manifest names, by name, its seed, and the settings that each pack varies.

    Raises:
        UsageError: it cannot be read, or is no manifest.
    """
    value = files.read_json(path, "the manifest")
    try:
        packs = {pack["name"]: dict(pack) for pack in value["packs"]}
        return {"seed": value["seed"], "varies": value["varies"], "packs": packs}
    except (KeyError, TypeError):
        raise errors.UsageError(f"{path} is no manifest of vectors; expected seed, varies and packs") from None


def find_changed_packs(filled: Sequence[PackSummary], path: Path, whole_set: bool) -> list[str]:
    """Return the packs that differ from a manifest or from the file next to it.

    With the whole set, packs that only the manifest has are returned too.

    Raises:
        UsageError: see `read_manifest` and `read_pack`.
    """
    manifest = read_manifest(path)
    known, usual = manifest["packs"], varied_settings()
    wrong = [
        pack.name for pack in filled
        if not _is_published(pack, known.get(pack.name)) or manifest["varies"].get(pack.name) != usual.get(pack.name)
        or not _file_matches(path.parent / f"{pack.name}{SUFFIX}", pack.sha256)
    ]  # fmt: skip
    return wrong + [name for name in known if whole_set and name not in {pack.name for pack in filled}]


def _is_published(pack: PackSummary, known: Mapping[str, Any] | None) -> bool:
    """Return whether a manifest has this pack. The pack may exercise rules that are newer than the manifest."""
    now = pack.to_json()
    return known is not None and {**now, "rules": known["rules"]} == known and set(known["rules"]) <= set(pack.rules)


def _file_matches(path: Path, sha256: str) -> bool:
    """Return whether a pack file holds the text of this hash. A pack without a file is made on demand and matches."""
    if not path.exists():
        return True
    return hashlib.sha256(b"".join(line for _, line in read_pack(path))).hexdigest() == sha256


def read_pack(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a pack, packed or not, each with its number from 1.

    Raises:
        UsageError: the file cannot be read, or is damaged, or a line is too long.
    """
    files.check_regular_file(path, PACK_FILE)
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            opened: BinaryIO = gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[assignment]
            number = 0
            while line := opened.readline(files.MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > files.MAX_LINE_BYTES:
                    raise errors.UsageError(f"{path}, line {number}: more than {files.MAX_LINE_BYTES} bytes")
                if line.strip():
                    yield number, line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise errors.UsageError(f"{path}: the pack is damaged: {error}") from None
    except OSError as error:
        raise errors.UsageError(f"cannot read {PACK_FILE} {path}: {error.strerror}") from None
