from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from entrycache_spark.common.results import AuditResult
from entrycache_spark.folders import audit_folder

Evaluator = Callable[[Path], AuditResult]


@pytest.fixture(scope="session")
def spark_session() -> Iterator[object]:
    from entrycache_spark.spark_backend import get_session

    quick = {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": "false",
    }
    session = get_session("local[2]", quick)
    yield session
    session.stop()


WITHOUT_SPARK: Final[Mapping[str, Evaluator]] = {
    "local": lambda path: audit_folder(path, "local"),
    "replay": lambda path: audit_folder(path, "replay"),
}


@pytest.fixture(scope="session")
def evaluators(spark_session: object) -> dict[str, Evaluator]:
    return {
        "spark": lambda path: audit_folder(path, "spark"),
        "spark sql": lambda path: audit_folder(path, "sql"),
        **WITHOUT_SPARK,
    }


ONE_BY_ONE: Final = (*WITHOUT_SPARK, *(pytest.param(name, marks=pytest.mark.long) for name in ("spark", "spark sql")))
"""The parameters of `evaluate`. In every run Spark judges the scenarios of one system, in `test_scenarios.py`."""


@pytest.fixture(params=ONE_BY_ONE)
def evaluate(request: pytest.FixtureRequest) -> Evaluator:
    """Return one backend after the other."""
    if request.param in WITHOUT_SPARK:
        return WITHOUT_SPARK[request.param]
    evaluators_by_name: dict[str, Evaluator] = request.getfixturevalue("evaluators")
    return evaluators_by_name[request.param]


@pytest.fixture(params=["without Spark", pytest.param("with Spark", marks=pytest.mark.long)])
def engines(request: pytest.FixtureRequest) -> Mapping[str, Evaluator]:
    """Return the backends; Spark reads seeded violations in every run, random traces only in the long one."""
    if request.param == "without Spark":
        return WITHOUT_SPARK
    evaluators_by_name: dict[str, Evaluator] = request.getfixturevalue("evaluators")
    return evaluators_by_name
