"""Traces from Parquet to JSON Lines and back, without loss."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from entrycache_protocol.input import check_plain
from entrycache_protocol.output import check_empty, write_text
from entrycache_trace.files import (
    METADATA_NAME,
    Metadata,
    iterate_rows,
    list_parts,
    read_jsonl,
    read_metadata,
    read_metadata_file,
    write_jsonl,
    write_rows,
)
from entrycache_trace.recorded import is_recorded, recorded_to_parquet
from entrycache_trace.schema import COLUMNS


def metadata_path(jsonl: Path) -> Path:
    """Where the metadata of a JSON Lines trace stands: beside it, named after it."""
    return jsonl.with_name(jsonl.stem + METADATA_NAME)


def to_jsonl(directory: Path, jsonl: Path) -> int:
    """Write a Parquet trace as JSON Lines, its metadata beside it; the number of events."""
    parts = list_parts(directory, needed=COLUMNS)
    metadata = read_metadata(directory)
    count = write_jsonl(jsonl, iterate_rows(parts))
    text = json.dumps(asdict(metadata), indent=1, sort_keys=True)
    write_text(metadata_path(jsonl), text + "\n")
    return count


def to_parquet(jsonl: Path, directory: Path) -> int:
    """Write a JSON Lines trace as Parquet; the number of events. Without metadata the defaults hold."""
    check_plain(jsonl, "the events")
    check_empty(directory, "the trace")
    beside = metadata_path(jsonl)
    metadata = Metadata(source=jsonl.name)
    if beside.exists():
        metadata = read_metadata_file(beside)
    return write_rows(directory, metadata, read_jsonl(jsonl))


def convert(source: Path, target: Path) -> int:
    """From a folder to JSON Lines, from a file or from what a recorder wrote to Parquet; the number of events."""
    if source.is_dir():
        return recorded_to_parquet(source, target) if is_recorded(source) else to_jsonl(source, target)
    return to_parquet(source, target)
