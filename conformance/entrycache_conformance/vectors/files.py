"""Packs as files: JSON Lines, packed by gzip, a case a line; and the manifest, which names them by their hashes."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from entrycache_conformance.vectors.packs import SMALL, usual_settings
from entrycache_protocol.errors import UsageError
from entrycache_protocol.input import LINE_BYTES_MOST, check_plain, read_json
from entrycache_protocol.output import whole, write_text

SUFFIX: Final = ".jsonl.gz"
MANIFEST: Final = "manifest.json"
WHAT: Final = "the pack"


class Filled(NamedTuple):
    """What a pack came to. `sha256` is that of its text, not of the file: gzips pack alike, not the same.

    `rules`: those that the reference met in it.
    """

    name: str
    cases: int
    steps: int
    text_bytes: int
    sha256: str
    rules: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Its object in the manifest."""
        return {**self._asdict(), "file": f"{self.name}{SUFFIX}", "rules": list(self.rules)}


class Packing:
    """The text of a pack on its way: hashed, and packed into memory where it is to be kept."""

    def __init__(self, keeps: bool) -> None:
        self._hash = hashlib.sha256()
        self._file = io.BytesIO()
        self._gzip = gzip.GzipFile("", "wb", 9, self._file, mtime=0) if keeps else None
        self.text_bytes = 0

    def add(self, line: str) -> None:
        """One more vector."""
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
            Unwritten: the disk is full or read-only, or something else is in the way.
        """
        assert self._gzip is not None
        self._gzip.close()
        with whole(path) as beside:
            beside.write_bytes(self._file.getvalue())


def manifest(filled: Sequence[Filled], seed: int) -> dict[str, Any]:
    """The manifest of packs; its own hash is that of the lines `HASH  NAME` of all packs, in their order.

    The cases of the small pack are not counted: each of them stands in another one.
    """
    named = "".join(f"{pack.sha256}  {pack.name}\n" for pack in filled)
    cases = sum(pack.cases for pack in filled if pack.name != SMALL)
    sha256 = hashlib.sha256(named.encode()).hexdigest()
    packs = [pack.to_json() for pack in filled]
    return {"schema": 1, "seed": seed, "cases": cases, "sha256": sha256, "varies": usual_settings(), "packs": packs}


def write_manifest(value: dict[str, Any], path: Path) -> None:
    """Write a manifest.

    Raises:
        Unwritten: the disk is full or read-only, or something else is in the way.
    """
    write_text(path, json.dumps(value, indent=1) + "\n")


def read_manifest(path: Path) -> dict[str, Any]:
    """The packs that a manifest names, by name, its seed, and the settings that each pack varies.

    Raises:
        UsageError: it cannot be read, or is no manifest.
    """
    value = read_json(path, "the manifest")
    try:
        packs = {pack["name"]: dict(pack) for pack in value["packs"]}
        return {"seed": value["seed"], "varies": value["varies"], "packs": packs}
    except (KeyError, TypeError):
        raise UsageError(f"{path} is no manifest of vectors; expected seed, varies and packs") from None


def otherwise(filled: Sequence[Filled], path: Path, whole_set: bool) -> list[str]:
    """The packs that are not as a manifest says, or whose file beside it is not; of the whole set, those too that only
    the manifest has.

    Raises:
        UsageError: see `read_manifest` and `read_pack`.
    """
    told = read_manifest(path)
    known, usual = told["packs"], usual_settings()
    wrong = [
        pack.name for pack in filled
        if known.get(pack.name) != pack.to_json() or told["varies"].get(pack.name) != usual.get(pack.name)
        or not _is_beside(path.parent / f"{pack.name}{SUFFIX}", pack.sha256)
    ]  # fmt: skip
    return wrong + [name for name in known if whole_set and name not in {pack.name for pack in filled}]


def _is_beside(path: Path, sha256: str) -> bool:
    """Whether a file of a pack holds the text of this hash; one that is not published is made when it is asked for."""
    if not path.exists():
        return True
    return hashlib.sha256(b"".join(line for _, line in read_pack(path))).hexdigest() == sha256


def read_pack(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a pack, packed or not, each with its number from 1.

    Raises:
        UsageError: the file cannot be read, or is damaged, or a line is too long.
    """
    check_plain(path, WHAT)
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            opened: BinaryIO = gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[assignment]
            number = 0
            while line := opened.readline(LINE_BYTES_MOST + 1):
                number += 1
                if len(line) > LINE_BYTES_MOST:
                    raise UsageError(f"{path}, line {number}: more than {LINE_BYTES_MOST} bytes")
                if line.strip():
                    yield number, line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UsageError(f"{path}: the pack is damaged: {error}") from None
    except OSError as error:
        raise UsageError(f"cannot read {WHAT} {path}: {error.strerror}") from None
