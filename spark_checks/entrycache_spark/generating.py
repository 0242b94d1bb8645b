"""A made-up trace whose brokers are written by Spark's tasks, each by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from entrycache_protocol.errors import Unwritten, UsageError
from entrycache_spark.engines.session import QUICK, is_local, session
from entrycache_trace.files import list_parts
from entrycache_trace.generate import Made, Progress

DONE: Final = pa.schema([pa.field("events", pa.int64()), pa.field("unwritten", pa.string())])
DONE_SQL: Final = "events bigint, unwritten string"
"""What a task answers: the events of a broker, or why they are not written."""

Work = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def write_in_tasks(made: Made, progress: Progress, master: str) -> int:
    """Write the brokers, into a folder that the tasks and this process see; the number of their events.

    Raises:
        UsageError: a task failed, or has written where this process does not see it.
        Unwritten: the folder takes no file where a task runs.
        MissingPrerequisite: Spark does not start.
    """
    spark = session(master, QUICK if is_local(master) else {})
    # Numbers of brokers, one a task.
    numbers = spark.range(0, made.brokers, 1, made.brokers)
    try:
        done = [tuple(row) for row in numbers.mapInArrow(_work(made), DONE_SQL).collect()]
    except (PySparkException, Py4JError) as error:
        raise UsageError(f"a task of Spark did not write its broker: {str(error).strip().splitlines()[0]}") from None
    unwritten = next((why for _, why in done if why is not None), None)
    if unwritten is not None:
        raise Unwritten(unwritten)
    count = sum(int(events) for events, _ in done)
    seen = sum(part.rows for part in list_parts(made.directory))
    if seen != count:
        raise UsageError(
            f"{made.directory}: tasks wrote {count} events, {seen} of them are here; expected a folder that this "
            f"process and the tasks of {master} share"
        )
    progress(count)
    return count


def _work(made: Made) -> Work:
    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield pa.RecordBatch.from_pylist([_told(made, number)], DONE)

    return work


def _told(made: Made, number: int) -> dict[str, int | str]:
    try:
        return {"events": made.write(number)}
    except Unwritten as error:
        return {"unwritten": str(error)}
