"""The Spark session that an audit runs in: the one that is there, or one of our own."""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections.abc import Mapping
from typing import Final

from entrycache_protocol.errors import MissingPrerequisite
from entrycache_protocol.extras import missing

try:
    from pyspark.sql import SparkSession
except ImportError as error:  # pragma: no cover
    raise missing("engine spark", f"{error.name}", "spark") from None

_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.log.level": "ERROR",
}

DRIVER_MEMORY: Final = "3g"
"""Heap where the master is local and `SPARK_DRIVER_MEMORY` does not say; Spark's own 1g is too little for 10^6 rows."""


QUICK: Final = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""For a JVM that only hands out tasks: it starts in two thirds of the time, and would be slow at SQL of its own."""


def session(master: str = "local[*]", settings: Mapping[str, str] | None = None) -> SparkSession:
    """The one session of this process, made at first use."""
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        raise MissingPrerequisite("engine spark needs Java 17 or later: no java on PATH and no JAVA_HOME")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.appName("entrycache audit").master(master)
    heap = (
        {"spark.driver.memory": DRIVER_MEMORY} if is_local(master) and "SPARK_DRIVER_MEMORY" not in os.environ else {}
    )
    for name, value in {**_SETTINGS, **heap, **(settings or {})}.items():
        builder = builder.config(name, value)
    logging.getLogger().addFilter(is_worth_telling)  # before it starts: one that waits for its master is stopped too
    try:
        made = builder.getOrCreate()
    except Exception as error:
        line = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise MissingPrerequisite(f"Spark does not start with master {master!r}: {line}") from None
    made.sparkContext.setLogLevel("ERROR")
    return made


def is_worth_telling(record: logging.LogRecord) -> bool:
    """All but that a command was stopped while it waited for the JVM: py4j tells that with its traceback."""
    return record.msg != "KeyboardInterrupt while sending command."


def is_local(master: str) -> bool:
    """Whether the driver's process is all that there is."""
    return master == "local" or master.startswith("local[")
