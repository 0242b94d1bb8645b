"""CSV samples of libCacheSim become adds and reads of a topic that only grows."""

from __future__ import annotations

from pathlib import Path

import pytest

from entrycache_league.object_requests import WITH_OPERATIONS, WITHOUT_OPERATIONS
from entrycache_league.requests import ADD, READ, Requests
from entrycache_league.sources import read_requests
from entrycache_protocol.errors import UsageError


def read(path: Path, head: str, *lines: str) -> Requests:
    path.write_text("\n".join((head, *lines, "")), "utf-8")
    (requests,) = read_requests(path)
    return requests


def test_each_write_of_a_block_is_a_new_entry_and_a_read_is_of_the_last_one(tmp_path: Path) -> None:
    requests = read(
        tmp_path / "disk.csv",
        WITH_OPERATIONS,
        "1,10,28,512,7",  # a read of a block from before the trace
        "1,10,2a,4096,7",
        "1,11,2a,512,3",
        "1,12,28,4096,7",
        "1,12,2a,8192,7",
        "1,13,28,8192,7",
        "1,13,28,512,3",
    )
    assert requests.name == "disk"
    assert requests.kinds.tolist() == [READ, ADD, ADD, READ, ADD, READ, READ]
    assert requests.numbers.tolist() == [0, 1, 2, 1, 3, 3, 2]
    assert requests.sizes.tolist() == [512, 4096, 512, 8192]
    assert (requests.times // 1_000_000_000).tolist() == [10, 10, 11, 12, 12, 13, 13]


def test_without_operations_the_first_request_of_an_object_is_its_write(tmp_path: Path) -> None:
    lines = ("0, 13053225291711363978, 737, 13", "0, 5, 54, -1", "1, 13053225291711363978, 737, -1")
    requests = read(tmp_path / "keys.csv", WITHOUT_OPERATIONS, *lines)
    assert requests.kinds.tolist() == [ADD, ADD, READ]
    assert requests.numbers.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("head", "line", "message"),
    [
        ("time,key", "1,2", "expected a first line"),
        (WITH_OPERATIONS, "1,11,28,512", "does not fit"),
        (WITH_OPERATIONS, "1,11,35,512,7", "line 3 has op '35'"),
        (WITH_OPERATIONS, "1,9,28,512,7", "the time of line 3"),
        (WITH_OPERATIONS, "1,11,28,0,7", "the size of line 3"),
    ],
)
def test_a_file_that_does_not_fit_is_named(head: str, line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        read(tmp_path / "disk.csv", head, "1,10,28,512,7", line)
