"""Spark hashes keys as the recorder does."""

from __future__ import annotations

import pytest

from entrycache_trace.formats.kafka_streams import key_hash


@pytest.mark.long
def test_spark_hashes_keys_alike(spark_session: object) -> None:
    keys = ["", "k", "user-1@7", "schlüssel", "\U0001f511"]
    frame = spark_session.createDataFrame([(key,) for key in keys], "k string")  # type: ignore[attr-defined]
    frame.createOrReplaceTempView("keys_of_streams")
    rows = spark_session.sql("select k, xxhash64(k) as h from keys_of_streams").collect()  # type: ignore[attr-defined]
    assert {row["k"]: row["h"] for row in rows} == {key: key_hash(key) for key in keys}
