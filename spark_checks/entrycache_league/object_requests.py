"""Requests of traces that other people publish as CSV: writes and reads of objects, as a broker would see them.

libCacheSim publishes two samples, which its source package on PyPI holds in `src/libCacheSim/data`: disk requests of
CloudPhysics with their operations (`cloudPhysicsIO.csv`), and requests of a key-value cache of Twitter without them
(`twitter_cluster52.csv`). A write of an object becomes an add: a topic only grows, so the object is a new entry from
then on. A read of an object reads the entry that was added for it last; without one, an entry from before the trace.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from entrycache_league.requests import ADD, READ, Requests, number_requests
from entrycache_protocol import errors, files
from entrycache_trace.jit import Array

SUFFIX: Final = ".csv"
WITH_OPERATIONS: Final = "version,time,op,size,lbn"
"""The first line of disk requests. The operations are the SCSI commands READ (10) and WRITE (10)."""

WITHOUT_OPERATIONS: Final = "# time, object, size, next_access_vtime"
"""The first line of requests without operations. The first request of an object counts as its write."""

SCSI_READ: Final = "28"
SCSI_WRITE: Final = "2a"
COLUMNS: Final = {
    WITH_OPERATIONS: {"version": "i4", "time": "i8", "op": "U2", "size": "i8", "object": "u8"},
    WITHOUT_OPERATIONS: {"time": "i8", "object": "u8", "size": "i8", "next": "i8"},
}
"""The columns of each kind of file, with their types."""


def read_object_requests(path: Path) -> Requests:
    """Read a CSV of libCacheSim's samples as the adds and reads of one topic; times are whole seconds.

    Raises:
        UsageError: the file is missing or has other columns, a line does not fit, or a time goes back.
    """
    rows = _read_rows(path)
    if len(rows) == 0:
        raise errors.UsageError(f"{path}: no request in it")
    if (np.diff(rows["time"]) < 0).any():
        line = int(np.flatnonzero(np.diff(rows["time"]) < 0)[0]) + 3
        raise errors.UsageError(f"{path}: the time of line {line} lies before that of the line before it")
    if (rows["size"] <= 0).any():
        line = int(np.flatnonzero(rows["size"] <= 0)[0]) + 2
        raise errors.UsageError(f"{path}: the size of line {line} is below 1 byte")
    objects = np.unique(rows["object"], return_inverse=True)[1]
    return requests_of_objects(path.stem, rows["time"] * 1_000_000_000, objects, rows["size"], _writes(path, rows))


def _read_rows(path: Path) -> Array:
    try:
        with path.open(encoding="utf-8") as lines:
            head = lines.readline().strip()
            if head not in COLUMNS:
                raise errors.UsageError(f"{path}: expected a first line {' or '.join(map(repr, COLUMNS))}")
            return np.loadtxt(lines, np.dtype(list(COLUMNS[head].items())), delimiter=",", ndmin=1)
    except OSError as error:
        raise errors.UsageError(f"{path}: {files.describe_os_error(error)}") from None
    except ValueError as error:
        raise errors.UsageError(f"{path}: a line does not fit its columns: {error}") from None


def _writes(path: Path, rows: Array) -> Array:
    """Return which requests write."""
    names = rows.dtype.names or ()
    if "op" not in names:
        first = np.zeros(len(rows), np.bool_)
        first[np.unique(rows["object"], return_index=True)[1]] = True
        return first
    others = np.flatnonzero((rows["op"] != SCSI_READ) & (rows["op"] != SCSI_WRITE))
    if len(others):
        line, op = int(others[0]) + 2, str(rows["op"][others[0]])
        raise errors.UsageError(f"{path}: line {line} has op {op!r}; expected {SCSI_READ} (read) or {SCSI_WRITE}")
    return np.asarray(rows["op"] == SCSI_WRITE)


def requests_of_objects(name: str, times: Array, objects: Array, sizes: Array, writes: Array) -> Requests:
    """Make the requests of one topic. Entries from before the trace come first, then one for each write.

    Each entry has the size of its first request and expects one read.
    """
    last = _last_writes(objects, writes)
    unwritten = last < 0
    before = np.unique(objects[unwritten], return_inverse=True)
    places = len(before[0]) + last
    places[unwritten] = before[1]
    count = len(times)
    return number_requests(
        name,
        kinds=np.where(writes, ADD, READ).astype(np.uint8),
        times=times,
        topics=np.zeros(count, np.int64),
        places=places,
        sizes=sizes,
        counts=np.ones(count, np.int32),
        calls=np.full(count, -1, np.int64),
    )


def _last_writes(objects: Array, writes: Array) -> Array:
    """Return for each request the number of the last write of its object, itself included; -1 if there is none."""
    order = np.argsort(objects, kind="stable")
    numbers = np.where(writes, np.cumsum(writes) - 1, -1)[order]
    starts = np.diff(objects[order], prepend=-1) != 0
    # Lift the numbers of each object above those of the one before, take the maximum so far, and lower them again.
    lift = np.cumsum(starts) * (len(objects) + 1)
    last = np.empty(len(objects), np.int64)
    last[order] = np.maximum.accumulate(numbers + lift) - lift
    return last
