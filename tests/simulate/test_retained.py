"""The model of receive buffers, checked with numbers computed by hand."""

from __future__ import annotations

import random

import pytest

from entrycache_fast import Row
from entrycache_protocol.errors import UsageError
from entrycache_simulate.retained import (
    BUFFER_SIZES,
    FRAME_BYTES,
    PUBLISH_BUFFERS,
    STORAGE_BUFFERS,
    BufferSizePredictor,
    Connection,
    ReceiveBuffers,
    RetainedBytes,
    cumulated_capacity,
)


def test_predictor_grows_four_sizes_when_a_read_fills_its_buffer() -> None:
    predictor = BufferSizePredictor(PUBLISH_BUFFERS)
    capacities = [predictor.capacity]
    for _ in range(3):
        predictor.record(predictor.capacity)
        capacities.append(predictor.capacity)
    assert capacities == [16_384, 262_144, 1_048_576, 1_048_576]


def test_predictor_shrinks_one_size_after_two_small_reads() -> None:
    predictor = BufferSizePredictor(PUBLISH_BUFFERS)
    capacities = []
    for size in (100, 100, 100, 8_193, 100, 100):
        predictor.record(size)
        capacities.append(predictor.capacity)
    # 8,193 bytes fill a buffer of 8,192, which grows again; what was small before it is forgotten
    assert capacities == [16_384, 8_192, 8_192, 131_072, 131_072, 65_536]


def test_predictor_never_leaves_its_bounds() -> None:
    rng = random.Random(0)
    for _ in range(200):
        least, initial, most = sorted(rng.choices(range(1, 3_000_000), k=3))
        predictor = BufferSizePredictor(ReceiveBuffers(least, initial, most))
        for _ in range(50):
            assert predictor.capacity in BUFFER_SIZES
            assert predictor.capacity <= most or BUFFER_SIZES[0] > most or least > most // 2
            predictor.record(rng.choice((1, predictor.capacity, predictor.capacity // 2)))


@pytest.mark.parametrize("sizes", [(0, 1, 2), (5, 4, 6), (1, 7, 6), (1, 2, 1 << 31)])
def test_sizes_are_checked(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(UsageError, match="minimum <= initial <= maximum"):
        ReceiveBuffers(*sizes).checked()


def test_frames_of_one_turn_share_a_buffer() -> None:
    small = Connection(PUBLISH_BUFFERS).turn([1_000, 2_000, 3_000])
    assert len({id(buffer) for buffer in small}) == 1
    assert small[0].capacity == 16_384


def test_a_frame_that_spans_reads_is_cumulated() -> None:
    # 16,384 arrive first: frame 1 whole, 6,384 of frame 2; the next read brings the other 3,616 of it
    first, second = Connection(PUBLISH_BUFFERS).turn([10_000, 10_000])
    assert first.capacity == 16_384
    assert second.capacity == cumulated_capacity(10_000) == 16_384
    assert first is not second
    (large,) = Connection(STORAGE_BUFFERS).turn([1_000_000])
    assert large.capacity == 1 << 20
    assert cumulated_capacity(5 << 20) == 8 << 20
    assert cumulated_capacity(3) == 64


def insert(entry: int, size: int, ts_ns: int = 0, cause: str = "ADD") -> Row:
    return Row("INSERT", cause, ts_ns, 0, cache="a", ledger_id=1, entry_id=entry, size_bytes=size)


def leave(entry: int, ts_ns: int, op: str = "EVICT") -> Row:
    return Row(op, "TIME", ts_ns, 0, cache="a", ledger_id=1, entry_id=entry, size_bytes=1)


def test_a_buffer_lives_as_long_as_its_last_slice() -> None:
    retained = RetainedBytes(10)
    for row in (insert(0, 100), insert(1, 100, 5), leave(0, 20)):
        retained.row(row)
    assert retained.bytes == 16_384
    retained.row(leave(1, 30))
    assert retained.bytes == 0
    retained.close(40)
    assert (retained.peak_bytes, retained.area) == (16_384, 16_384 * 10)


def test_entries_further_apart_than_a_burst_have_buffers_of_their_own() -> None:
    retained = RetainedBytes(10)
    for row in (insert(0, 100), insert(1, 100, 50), insert(2, 1, 99, "FILL")):
        retained.row(row)
    retained.close(200)
    assert retained.bytes == 16_384 + 16_384 + 2_048


def test_an_entry_may_leave_before_its_burst_ends() -> None:
    retained = RetainedBytes(1_000)
    for row in (insert(0, 100), leave(0, 1), insert(0, 100, 2), leave(0, 3, "REMOVE"), insert(1, 9, 4)):
        retained.row(row)
    retained.close(5_000)
    assert retained.bytes == 16_384
    single = RetainedBytes(1_000)
    for row in (insert(0, 100), leave(0, 1)):
        single.row(row)
    single.close(5_000)
    assert single.bytes == single.peak_bytes == 0


def test_one_small_entry_pins_a_large_buffer() -> None:
    """Check the warning of PIP-430: with a smaller maximum, the same entry pins less."""
    frames = [4_096 - FRAME_BYTES] * 1_024
    retained_bytes = {}
    for most in (65_536, 1_048_576):
        retained = RetainedBytes(10, ReceiveBuffers(1024, 16_384, most))
        for turn in range(3):
            for number, size in enumerate(frames):
                retained.row(insert(turn * len(frames) + number, size, turn * 100))
        retained.row(insert(99_999, 1, 400))
        for entry in range(len(frames) * 3):
            if entry % 512:
                retained.row(leave(entry, 500))
        retained_bytes[most] = retained.bytes
    assert retained_bytes[1_048_576] > 4 * retained_bytes[65_536] > 4 * 6 * 4_096
