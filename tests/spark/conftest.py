from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from entrycache_spark.audit import audit
from entrycache_spark.verdict import AuditResult

Evaluator = Callable[[Path], AuditResult]


@pytest.fixture(scope="session")
def spark_session() -> Iterator[object]:
    from entrycache_spark.engines.spark import session

    quick = {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": "false",
    }
    made = session("local[2]", quick)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def evaluators(spark_session: object) -> dict[str, Evaluator]:
    return {
        "spark": lambda path: audit(path, "spark"),
        "spark windows": lambda path: audit(path, "spark", witnesses=False),
        "local": lambda path: audit(path, "local"),
        "local windows": lambda path: audit(path, "local", witnesses=False),
        "replay": lambda path: audit(path, "replay"),
    }
