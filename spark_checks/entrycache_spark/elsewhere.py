"""A trace that Spark reads where it stands: `s3a:`, `hdfs:`, `file:`, patterns, folders of dates, tables of a catalog.

Folders are listed by Hadoop's file systems, so whatever Spark reads can be audited; rows never pass through this
process, and of what is found it keeps what `TOLD_MOST` allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from entrycache_protocol.errors import MissingPrerequisite, UsageError
from entrycache_protocol.strict_json import parse
from entrycache_spark.engines.session import QUICK, is_local, session
from entrycache_spark.engines.spark import literal
from entrycache_spark.engines.tasks import MEMORY_MIB, NotThere, collected, findings_of, kernels_of, slots_of
from entrycache_spark.folder import named, nothing, result_of, write_violations
from entrycache_spark.frames import audit
from entrycache_spark.rulefiles import select_rules
from entrycache_spark.systems import AUDITED
from entrycache_spark.verdict import AuditResult
from entrycache_trace.files import METADATA_NAME, Metadata, metadata_of, read_metadata_file
from entrycache_trace.places import TABLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ABOVE_MOST: Final = 4
"""So many folders above what a path names are looked at for the metadata of the trace."""


class Read(NamedTuple):
    """The rows of a trace, and what its metadata say."""

    rows: DataFrame
    metadata: Metadata


def audit_elsewhere(
    where: str,
    master: str = "local[*]",
    rules: Sequence[str] = (),
    out: Path | None = None,
    *,
    metadata: Path | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> AuditResult:
    """Check a trace that Spark reads, as `audit` does a folder; the violations go into the folder `out` if given.

    `metadata` is the file that says what the trace is; None: the `_entrycache.json` in or above its folders.

    Raises:
        UsageError: there is no such trace, or it cannot be evaluated.
        MissingPrerequisite: Spark does not start, does not know the file system, or its tasks lack DuckDB.
    """
    progress("starting Spark")
    spark = session(master, QUICK if is_local(master) else {})
    own = spark.newSession()
    own.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    with named(where):
        progress("looking for the trace")
        trace = read(own, where, metadata)
        if trace.metadata.system not in AUDITED:
            raise UsageError(f"no trace check for system {trace.metadata.system!r} yet")
        progress("tasks of Spark")
        slots = slots_of(spark)
        found = audit(trace.rows, trace.metadata, rules, threads=1, memory_mib=MEMORY_MIB // slots)
        try:
            told = collected(found)
            findings = findings_of(told)
            rows = trace.rows.count()
        except NotThere as error:
            raise MissingPrerequisite(str(error)) from None
        except (PySparkException, Py4JError) as error:
            raise UsageError(f"cannot be evaluated ({_line(error)})") from None
    if findings:
        result = result_of(findings, rows, kernels_of(told))
    else:
        result = nothing(select_rules(tuple(rules), trace.metadata.system), trace.metadata.system, rows)
    if out is not None:
        write_violations(out, result.violations)
    return result


def read(spark: SparkSession, where: str, metadata: Path | None) -> Read:
    """The rows of a trace by a path or a table's name.

    Raises:
        UsageError: it is not there, or says two things of itself.
    """
    told = None if metadata is None else read_metadata_file(metadata)
    try:
        if where.startswith(TABLE):
            if told is None:
                raise UsageError(f"a table does not say of which system it is; expected a file like {METADATA_NAME}")
            return Read(spark.table(where.removeprefix(TABLE)), told)
        return _read_folders(spark, where, told)
    except (PySparkException, Py4JError) as error:
        raise UsageError(f"cannot be read ({_line(error)})") from None


def _read_folders(spark: SparkSession, where: str, told: Metadata | None) -> Read:
    files = Files(spark)
    found = files.named(where)
    if not found:
        raise UsageError("no such folder; expected one of a trace, or a pattern that folders match")
    bases: dict[str, list[str]] = {}
    says: dict[str, Metadata] = {}
    for path in found:
        base = files.base(path)
        if base is None and told is None:
            raise UsageError(f"{path}: no {METADATA_NAME} in it or above; it says of which system the trace is")
        bases.setdefault(path if base is None else base, []).append(path)
        if base is not None and base not in says:
            says[base] = metadata_of(parse(files.text(f"{base}/{METADATA_NAME}")), f"{base}/{METADATA_NAME}")
    first, *others = [told] if told is not None else says.values()
    if any(other != first for other in others):
        raise UsageError(f"the {METADATA_NAME} of {', '.join(sorted(says))} say different things; audit each by itself")
    frames = [
        spark.read.option("basePath", base).option("mergeSchema", "true").parquet(*map(literal, paths))
        for base, paths in bases.items()
    ]
    return Read(reduce(lambda some, more: some.unionByName(more, allowMissingColumns=True), frames), first)


class Files:
    """Hadoop's file systems, as Spark is set up for them."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        self._jvm = context._jvm
        self._settings = context._jsc.hadoopConfiguration()

    def named(self, where: str) -> list[str]:
        """The paths that a path or pattern names, in order."""
        path = self._path(where)
        return sorted(str(found.getPath().toString()) for found in self._of(path).globStatus(path) or ())

    def base(self, path: str) -> str | None:
        """The folder that has the metadata: this one, or the nearest above."""
        at = self._path(path)
        for _ in range(1 + ABOVE_MOST):
            if at is None:
                break
            if self._of(at).exists(self._jvm.org.apache.hadoop.fs.Path(at, METADATA_NAME)):
                return str(at.toString())
            at = at.getParent()
        return None

    def text(self, path: str) -> str:
        """A small file as a text."""
        at = self._path(path)
        stream = self._of(at).open(at)
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream)).decode("utf-8")
        except UnicodeDecodeError:
            raise UsageError(f"{path}: is not UTF-8 text") from None
        finally:
            stream.close()

    def _path(self, where: str) -> Any:
        try:
            return self._jvm.org.apache.hadoop.fs.Path(where)
        except Py4JError as error:
            raise UsageError(f"is no path ({_line(error)})") from None

    def _of(self, path: Any) -> Any:
        try:
            return path.getFileSystem(self._settings)
        except Py4JError as error:
            raise MissingPrerequisite(f"Spark does not read {path.toString()}: {_line(error)}") from None


def _line(error: Exception) -> str:
    """What Java or Spark says, without the trace."""
    cause = getattr(error, "java_exception", None)
    text = str(cause.toString()) if cause is not None else str(error)
    return (text.strip() or type(error).__name__).splitlines()[0][:300]
