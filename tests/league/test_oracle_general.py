"""Files of libCacheSim: a write_records file can be read again, and any other file is refused in one line."""

from __future__ import annotations

import importlib
import re
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from entrycache_league.policies import POLICIES, BrokerSettings, ReplayOutput
from entrycache_league.requests import READ
from entrycache_league.sources import (
    WorkloadShape,
    read_oracle_general,
    read_requests,
    shape_requests,
    write_oracle_general,
    zipf_requests,
)
from entrycache_protocol.errors import UsageError
from entrycache_trace import files

RECORD = "<IQIq"


def write_records(path: Path, *records: tuple[int, int, int, int]) -> Path:
    path.write_bytes(b"".join(struct.pack(RECORD, *record) for record in records))
    return path


def test_a_record_has_24_bytes_in_the_order_of_the_format(tmp_path: Path) -> None:
    requests = shape_requests("two readers", WorkloadShape(topics=2, sizes=(5, 50), lags=(1, 2)), 20)
    path = tmp_path / "x.oracleGeneral"
    count = write_oracle_general(requests, path)
    records = list(struct.iter_unpack(RECORD, path.read_bytes()))
    assert len(records) == count == 60
    for at, (_, entry, size, after) in enumerate(records):
        later = [other for other in range(at + 1, count) if records[other][1] == entry]
        assert after == (later[0] if later else -1)
        assert size == requests.sizes[entry]


def test_a_written_file_is_read_again(tmp_path: Path) -> None:
    requests = zipf_requests(2_000)
    write_oracle_general(requests, tmp_path / "x.oracleGeneral")
    again = read_oracle_general(tmp_path / "x.oracleGeneral")
    np.testing.assert_array_equal(again.numbers, requests.numbers)
    np.testing.assert_array_equal(again.sizes, requests.sizes)
    assert set(again.kinds) == {READ}


@pytest.mark.parametrize("name", ["x.oracleGeneral.bin", "x.oracleGeneral.zst", "x.oracleGeneral.sample10.bin.zst"])
def test_files_are_read_under_the_names_that_they_have(name: str, tmp_path: Path) -> None:
    data = struct.pack(RECORD, 1, 2, 3, 1) + struct.pack(RECORD, 2, 2, 3, -1)
    (tmp_path / name).write_bytes(pa.compress(data, "zstd", asbytes=True) if name.endswith(".zst") else data)
    (requests,) = read_requests(tmp_path / name)
    assert list(requests.numbers) == [0, 0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x.txt", "expected the folder of a trace, or NAME.oracleGeneral or NAME.oracleGeneral.bin, also with .zst"),
        ("x.oracleGeneralOpNS", "expected the folder of a trace, or NAME.oracleGeneral"),
        ("x.oracleGeneral.bin.zst", "cannot be read as zstd"),
        ("x.oracleGeneral.bin", "records of 24 bytes, little-endian"),
    ],
)
def test_another_format_is_refused_with_the_expected_one(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"1,2,3")
    with pytest.raises(UsageError, match=re.escape(message)):
        read_requests(tmp_path / name)


def test_a_command_that_takes_traces_names_no_conversion_of_requests(tmp_path: Path) -> None:
    (tmp_path / "x.oracleGeneral.bin").write_bytes(b"1,2,3")
    with pytest.raises(UsageError, match=r"expected the folder of a trace, or JSON Lines \(\.jsonl, \.jsonl\.zst\)$"):
        files.require_folder(tmp_path / "x.oracleGeneral.bin")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no request"),
        (struct.pack(RECORD, 1, 2, 3, -1)[:-1], "23 bytes"),
        (struct.pack(RECORD, 1, 2, 0, -1), "size 0"),
        (struct.pack(RECORD, 5, 2, 3, -1) + struct.pack(RECORD, 4, 3, 3, -1), "record 1"),
    ],
)
def test_a_broken_file_is_refused_in_one_line(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "x.oracleGeneral"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=message) as caught:
        read_oracle_general(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_oracle_general(tmp_path / "x.oracleGeneral")


@pytest.mark.parametrize("policy", ["fifo", "lru", "clock", "sieve"])
@pytest.mark.parametrize("sizes", [(10, 10), (5, 400)])
def test_libcachesim_has_as_many_misses(policy: str, sizes: tuple[int, int], tmp_path: Path) -> None:
    libcachesim = importlib.import_module("libcachesim")  # GPL: it stands beside our tests, and in no package of ours
    requests = shape_requests("beside", WorkloadShape(topics=3, sizes=sizes, lags=(1_000, 3_000_000, 9_000_000)), 900)
    path = tmp_path / "x.oracleGeneral"
    write_oracle_general(requests, path)
    capacity = int(requests.sizes.sum()) // 20
    theirs = {"fifo": "FIFO", "lru": "LRU", "clock": "Clock", "sieve": "Sieve"}[policy]
    reader = libcachesim.TraceReader(str(path), libcachesim.TraceType.ORACLE_GENERAL_TRACE)
    misses, _ = getattr(libcachesim, theirs)(capacity).process_trace(reader)
    again = read_oracle_general(path)
    ours = POLICIES[policy](again, capacity, BrokerSettings())
    assert isinstance(ours, ReplayOutput)
    assert 1 - ours.hits.mean() == pytest.approx(misses, abs=1e-9)
