"""Files of requests as libCacheSim reads and writes them: format `oracleGeneral`.

A record has 24 bytes, little-endian and packed: u32 seconds, u64 id, u32 size, i64 `next_access_vtime` (the number of
the next request of the same id, -1 where there is none).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from entrycache_league.requests import READ, Requests, numbered
from entrycache_protocol.errors import UsageError
from entrycache_protocol.output import reason, whole

RECORD: Final = np.dtype([("time", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])
SUFFIX: Final = ".oracleGeneral"
SIZE_MOST: Final = (1 << 32) - 1
RECORDS_MOST: Final = 200_000_000
"""Requests of one file: about 16 GB of arrays."""


def read_oracle_general(path: Path) -> Requests:
    """The requests of a file: reads of one topic; nothing in it says how many more are expected.

    `next_access_vtime` is not believed but found anew.

    Raises:
        UsageError: no such file, half a record at its end, no record, a size of 0, or a time that goes back.
    """
    try:
        length = path.stat().st_size
        if length % RECORD.itemsize:
            raise UsageError(f"{path}: {length} bytes are no whole number of records of {RECORD.itemsize}; cut short?")
        if length // RECORD.itemsize > RECORDS_MOST:
            raise UsageError(f"{path}: {length // RECORD.itemsize} requests; expected {RECORDS_MOST} at most")
        records = np.fromfile(path, RECORD)
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from None
    if len(records) == 0:
        raise UsageError(f"{path}: no request in it")
    empty = np.flatnonzero(records["size"] == 0)
    if len(empty):
        raise UsageError(f"{path}: record {empty[0]} has size 0; expected 1 byte or more")
    back = np.flatnonzero(np.diff(records["time"].astype(np.int64)) < 0)
    if len(back):
        raise UsageError(f"{path}: the time of record {back[0] + 1} lies before that of the one before it")
    count = len(records)
    return numbered(
        path.name,
        kinds=np.full(count, READ, np.uint8),
        times=records["time"].astype(np.int64) * 1_000_000_000,
        topics=np.zeros(count, np.int64),
        places=np.unique(records["id"], return_inverse=True)[1].astype(np.int64),
        sizes=records["size"].astype(np.int64),
        counts=np.zeros(count, np.int32),
        calls=np.full(count, -1, np.int64),
    )


def write_oracle_general(requests: Requests, path: Path) -> int:
    """Write the adds and reads of some requests; their number. A size of 0 is written as 1, which libCacheSim needs.

    Raises:
        UsageError: an entry is larger than a record can say, or the file cannot be written.
    """
    about = np.flatnonzero(requests.kinds <= READ)
    numbers = requests.numbers[about]
    if len(requests.sizes) and requests.sizes.max() > SIZE_MOST:
        raise UsageError(f"{requests.name}: an entry has more than {SIZE_MOST} bytes, which {path} cannot say")
    records = np.zeros(len(about), RECORD)
    records["time"] = (requests.times[about] - requests.times[0]) // 1_000_000_000
    records["id"] = numbers
    records["size"] = np.maximum(1, requests.sizes[numbers])
    order = np.argsort(numbers, kind="stable")
    records["next"] = -1
    same = numbers[order[:-1]] == numbers[order[1:]]
    records["next"][order[:-1][same]] = order[1:][same]
    with whole(path) as beside:
        records.tofile(beside)
    return len(records)
