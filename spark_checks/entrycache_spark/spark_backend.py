"""The Spark backend: a session, and the rule files evaluated as they are by Spark's own SQL.

`get_session` returns the active session, or starts one. `SparkSqlBackend` reads Parquet in the JVM; no row passes
through Python. `expand_functions` inlines `token`, `counter` and `text_of`, since Spark 3.5 has no functions in SQL.
"""

import logging
import os
import re
import shutil
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache, reduce
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from entrycache_protocol.errors import EntrycacheError, MissingPrerequisite, UsageError, missing_extra, shorten
from entrycache_spark.common.rule_files import fits_in_memory
from entrycache_trace.files import Part
from entrycache_trace.schema import COLUMNS, sql_type

try:
    from pyspark.sql import SparkSession
except ImportError as error:  # pragma: no cover
    raise missing_extra("backend spark", f"{error.name}", "spark") from None

_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.log.level": "ERROR",
}

DEFAULT_MASTER: Final = "local[*]"

REMOTE: Final = "SPARK_REMOTE"
"""The variable that names a server of Spark Connect; it replaces the default master, as in Spark's own programs."""

ANSWER_SECONDS: Final = 5.0
"""The time in which a master has to accept a connection."""

EXECUTOR_SECONDS: Final = "ENTRYCACHE_EXECUTOR_SECONDS"
"""The variable with the seconds in which a first executor of a standalone master has to start; 0 waits for ever."""

DEFAULT_EXECUTOR_SECONDS: Final = 180.0

DRIVER_MEMORY: Final = "3g"
"""The heap of a local master unless `SPARK_DRIVER_MEMORY` is set; Spark's own 1g is too little for 10^6 rows."""


POLL_SECONDS: Final = 0.2
"""The time between two looks at the executors."""

QUICK_JVM: Final = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""Options for a JVM that only hands out tasks: it starts in two thirds of the time, but runs SQL slowly."""


def get_session(master: str = DEFAULT_MASTER, settings: Mapping[str, str] | None = None) -> SparkSession:
    """Return the Spark session of this process, and start one on first use, or connect to that of `SPARK_REMOTE`.

    Raises:
        MissingPrerequisite: Java is missing, or Spark does not start or answer.
        UsageError: `SPARK_REMOTE` is set, and another master is given.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if REMOTE in os.environ:
        return _connect(os.environ[REMOTE], master)
    check_master_answers(master)
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        raise MissingPrerequisite("backend spark needs Java 17 or later: no java on PATH and no JAVA_HOME")
    if is_local_master(master):
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # workers elsewhere would not reach it
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("entrycache audit").master(master)
    local = {"spark.driver.bindAddress": "127.0.0.1"} if is_local_master(master) else {}
    if local and "SPARK_DRIVER_MEMORY" not in os.environ:
        local["spark.driver.memory"] = DRIVER_MEMORY
    for name, value in {**_SETTINGS, **local, **(settings or {})}.items():
        builder = builder.config(name, value)
    silence_py4j()  # before it starts: one that waits for its master is stopped too
    try:
        session = builder.getOrCreate()
    except Exception as error:
        raise MissingPrerequisite(f"Spark does not start with master {master!r}: {_first_line(error)}") from None
    session.sparkContext.setLogLevel("ERROR")
    if master.startswith("spark://"):
        try:
            wait_for_executor(session, master)
        except EntrycacheError:
            session.stop()
            raise
    return session


def wait_for_executor(session: SparkSession, master: str) -> None:
    """Wait for the first executor. A worker with an old Java starts executors for ever, and each ends at once.

    Raises:
        MissingPrerequisite: none has started in time.
        UsageError: `ENTRYCACHE_EXECUTOR_SECONDS` is no number.
    """
    text = os.environ.get(EXECUTOR_SECONDS, str(DEFAULT_EXECUTOR_SECONDS))
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        raise UsageError(f"{EXECUTOR_SECONDS} is {text!r}; expected a number of seconds")
    context: Any = session.sparkContext
    if context.getConf().get("spark.dynamicAllocation.enabled", "false") == "true" or not float(text):
        return  # executors start with the first job, or the user waits for a cluster that is busy
    deadline = time.monotonic() + float(text)
    while len(context._jsc.sc().statusTracker().getExecutorInfos()) < 2:  # the driver is one of them
        if time.monotonic() > deadline:
            raise MissingPrerequisite(
                f"no executor has started at {master} in {text} s; expected a worker with free cores and memory, and "
                f"with Java 17 or later; see the logs of its workers, or set {EXECUTOR_SECONDS} for a busy cluster"
            )
        time.sleep(POLL_SECONDS)


def _connect(remote: str, master: str) -> SparkSession:
    """Return a session of the server that `SPARK_REMOTE` names."""
    if master != DEFAULT_MASTER:
        raise UsageError(f"--master {master} and {REMOTE}={remote} name two servers; give --master or set {REMOTE}")
    check_master_answers(remote)
    if is_local_master(remote):
        os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        session = SparkSession.builder.remote(remote).getOrCreate()
        session.range(1).count()
    except Exception as error:
        raise MissingPrerequisite(f"Spark does not answer at {REMOTE}={remote}: {_first_line(error)}") from None
    return session


def check_master_answers(master: str) -> None:
    """Refuse the address of a master that accepts no connection; Spark itself would wait for a minute or longer.

    Raises:
        MissingPrerequisite: none of the servers that the address names accepts a connection.
    """
    scheme, _, rest = master.partition("://")
    ports = {"spark": 7077, "sc": 15_002}
    why = ""
    for address in rest.partition("/")[0].split(",") if scheme in ports else ():
        host, _, port = address.rpartition(":") if ":" in address else (address, "", "")
        try:
            with socket.create_connection((host.strip("[]"), int(port or ports[scheme])), ANSWER_SECONDS):
                return
        except (OSError, ValueError) as error:
            why = f"{address}: {error.strerror if isinstance(error, OSError) and error.strerror else error}"
    if why:
        raise MissingPrerequisite(f"no Spark answers at {master} ({why}); expected a running master")


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def is_connected(spark: SparkSession) -> bool:
    """Return whether a session speaks to a server by Spark Connect, so that this process has no JVM."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


TASK_FAILURES: Final = (
    (
        r"No module named '([\w.]+)'",
        "a worker of Spark lacks the Python package {}; install it there, or let PYSPARK_PYTHON "
        "name a Python that has it",
    ),
    (r'Cannot run program "(.*?)"', "a worker of Spark has no program {}; let PYSPARK_PYTHON name its Python"),
    (
        r"(Python in worker has different version[^\n]*|PYTHON_VERSION_MISMATCH[^\n]*)",
        "a worker of Spark has another Python: {}; let PYSPARK_PYTHON name the same version",
    ),
    (
        r"(UnsupportedClassVersionError|class file version[^\n]*|Application has been killed[^\n]*|Master removed our "
        r"application[^\n]*)",
        "Spark's executors do not start ({}); see the logs of its workers, and give them Java 17 or later",
    ),
)
"""Patterns in the text of a failed job, each with the message for it; the first match counts."""


def describe_task_failure(error: Exception) -> EntrycacheError:
    """Return the error for a failed job of Spark, in one line: what a worker lacks, or Spark's own words."""
    text = str(error)
    for pattern, message in TASK_FAILURES:
        if match := re.search(pattern, text):
            return MissingPrerequisite(message.format(shorten(match[1], 200)))
    cause = getattr(error, "java_exception", None)
    line = _first_line(error) if cause is None else str(cause.toString()).splitlines()[0]
    return UsageError(f"cannot be evaluated ({line[:300]})")


PY4J_LOGGERS: Final = ("", "py4j.java_gateway", "py4j.clientserver")
"""The loggers to which py4j writes; "" is the root."""


def silence_py4j() -> None:
    """Leave py4j's tracebacks out of the log: it logs each error that it also raises, and those of a closed JVM."""
    for name in PY4J_LOGGERS:
        logging.getLogger(name).addFilter(is_worth_logging)


def is_worth_logging(record: logging.LogRecord) -> bool:
    """Return False for a traceback that py4j logs, such as that of a command that a signal interrupts."""
    return record.exc_info is None or "py4j" not in Path(record.pathname).parts


def is_local_master(master: str) -> bool:
    """Return whether the driver's process runs everything."""
    return master == "local" or master.startswith("local[")


# ---------- Spark SQL

try:
    import sqlglot
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame
    from sqlglot import exp
except ImportError as error:  # pragma: no cover
    raise missing_extra("backend spark", f"{error.name}", "spark") from None

_BODIES: Final = {
    "token": "(xxhash64(cast({0} as bigint), cast({1} as bigint)) & 4294967295)",
    "counter": "try_cast(get_json_object({0}, concat('$.', {1})) as bigint)",
    "text_of": "get_json_object({0}, concat('$.', {1}))",
}
"""The functions of the rule files, as Spark evaluates them."""

ROWS_PER_SHUFFLE_TASK: Final = 1_000_000
"""The approximate number of rows of one shuffle task; a small trace is not worth two hundred tasks."""


class SparkSqlBackend:
    """A Spark session with the trace as a view, beside the session of this process, which outlives the backend."""

    def __init__(
        self,
        directory: Path,
        parts: Sequence[Part],
        master: str = "local[*]",
        columns: Sequence[str] = COLUMNS,
        window_rows: int | None = None,
    ) -> None:
        # A session of our own beside the one that is there, which keeps its settings, views and functions.
        self._spark = get_session(master).newSession()
        self._spark.conf.set("spark.sql.ansi.enabled", "false")
        rows = sum(part.rows for part in parts)
        partitions = max(self._spark.sparkContext.defaultParallelism, min(rows // ROWS_PER_SHUFFLE_TASK, 4_096))
        self._spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
        in_memory = 2**31 - 1 if window_rows is None else window_rows
        self._spark.conf.set("spark.sql.windowExec.buffer.spill.threshold", str(in_memory))
        scan = reduce(DataFrame.unionByName, self._scans(directory, parts, columns))
        renamed: dict[bool | float | int | str, bool | float | int | str | None] = {
            _as_spark_reads(part): part.broker for part in parts if _as_spark_reads(part) != part.broker
        }
        if renamed:
            scan = scan.replace(renamed, subset=["broker"])
        # A small trace is read once; of a large one each query reads the columns that it needs.
        self._kept = scan.cache() if fits_in_memory(parts) else None
        scan.createOrReplaceTempView("trace")

    def _scans(self, directory: Path, parts: Sequence[Part], columns: Sequence[str]) -> list[DataFrame]:
        """Read the parts, grouped by equal integer widths, because Spark 3.5 does not widen columns."""
        paths_by_kinds: dict[str, list[str]] = {}
        for part in parts:
            file = pq.read_schema(part.path)
            kinds = ", ".join(f"{name} {_kind(name, file)}" for name in columns)
            # The parts by name: whatever else stands in the folders is no part of the trace.
            paths_by_kinds.setdefault(kinds, []).append(
                escape_path(str(directory.resolve() / part.path.relative_to(directory)))
            )
        reader = self._spark.read.option("basePath", str(directory.resolve()))
        wide = [f"cast({name} as {sql_type(name)}) as {name}" for name in columns]
        return [reader.schema(kinds).parquet(*paths).selectExpr(*wide) for kinds, paths in paths_by_kinds.items()]

    def define(self, name: str, query: str) -> None:
        """Define a view."""
        self._spark.sql(expand_functions(query)).createOrReplaceTempView(name)

    def table(self, name: str, columns: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> None:
        """Create a small table; `columns` maps names to SQL types."""
        schema = ", ".join(f"{column} {kind}" for column, kind in columns.items())
        # Without the hint Spark takes it to be large, and sorts the whole trace by broker in one task to join it.
        self._spark.createDataFrame(list(rows), schema).hint("broadcast").createOrReplaceTempView(name)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        try:
            return [tuple(row) for row in self._spark.sql(expand_functions(query)).collect()]
        except PySparkException as error:
            condition = _condition(error)
            if condition.startswith(("FAILED_READ_FILE", "CANNOT_READ", "PARQUET", "NUMERIC", "ARITHMETIC")):
                raise UsageError(f"the trace cannot be evaluated: {str(error).splitlines()[0]}") from None
            raise

    def explain(self, query: str, mode: str) -> str:
        """Return the plan of a query, by a mode of Spark's EXPLAIN (`simple`, `codegen`)."""
        word = "" if mode == "simple" else mode
        return str(self._spark.sql(f"explain {word} {expand_functions(query)}").collect()[0][0])

    def compile_seconds(self) -> float:
        """Return the seconds that this JVM has spent compiling generated code."""
        jvm: Any = self._spark.sparkContext._jvm
        return float(jvm.org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator.compileTime()) / 1e9

    def close(self) -> None:
        """Drop the views and the cached rows."""
        if self._kept is not None:
            self._kept.unpersist()
        for name in ("trace", "events", "brokers"):
            self._spark.catalog.dropTempView(name)


@cache
def expand_functions(query: str) -> str:
    """Replace calls of `token` and `counter` in a query with their bodies."""

    def body(node: Any) -> Any:
        template = _BODIES.get(node.name) if isinstance(node, exp.Anonymous) else None
        if template is None:
            return node
        return sqlglot.parse_one(template.format(*(_spark(part.transform(body)) for part in node.expressions)), "spark")

    return _spark(sqlglot.parse_one(query, read="spark").transform(body))


def _spark(tree: Any) -> str:
    return str(tree.sql(dialect="spark"))


def _condition(error: PySparkException) -> str:
    """Return the error condition; Spark 3.5 calls it an error class."""
    named = error.getCondition if hasattr(error, "getCondition") else error.getErrorClass
    return named() or ""


def _kind(name: str, file: pa.Schema) -> str:
    """Return the Spark type of a column as this file stores it."""
    kind = pa.string() if name == "broker" or name not in file.names else file.field(name).type
    narrow = pa.types.is_integer(kind) and kind.bit_width <= 32 and kind != pa.uint32()
    return "int" if narrow else sql_type(name)


def escape_path(path: str) -> str:
    """Escape a path so that Spark reads that file alone."""
    return "".join("\\" + mark if mark in "[]{}*?\\" else mark for mark in path)


def _as_spark_reads(part: Part) -> str:
    """Return the broker of a folder as Spark decodes it: each escaped byte is one character."""
    return unquote(part.path.parent.name.removeprefix("broker="), encoding="latin-1")
