"""An audit of a DataFrame over Spark Connect gives the verdicts of the folder and leaves the session unchanged."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from entrycache_spark.folders import audit_folder
from tests.support.traces import plant

PROGRAM = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession
from entrycache_spark import audit
from entrycache_trace.files import read_metadata

spark = SparkSession.builder.remote("local[2]").getOrCreate()
spark.range(3).createOrReplaceTempView("events")
folder = sys.argv[1]
trace = spark.read.option("basePath", folder).parquet(f"{folder}/broker=*")
found = audit(trace, read_metadata(Path(folder))).collect()
told = {
    "session": type(spark).__module__,
    "verdicts": sorted({(row["broker"], row["rule"], row["verdict"]) for row in found if row["refused"] is None}),
    "violations": sorted((row["broker"], row["rule"], one["seq"]) for row in found for one in row["violations"] or ()),
    "refused": [row["refused"] for row in found if row["refused"] is not None],
    "views": [table.name for table in spark.catalog.listTables()],
}
print(json.dumps(told))
"""


@pytest.mark.long
def test_an_audit_over_spark_connect_gives_the_folders_verdicts(tmp_path: Path) -> None:
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio: pip install 'pyspark[connect]'")
    rows = plant.renamed(plant.honest(tmp_path / "honest", 400, 4)["broker-0"], "violating")
    plant.wrong_sum(rows, random.Random(1))
    trace = plant.write(tmp_path / "trace", rows)
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(trace)],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2_000:]
    answer = json.loads(run.stdout.strip().splitlines()[-1])
    wanted = audit_folder(trace, "local")
    assert "connect" in answer["session"]
    assert answer["refused"] == []
    assert answer["views"] == ["events"]
    assert {rule: verdict for _, rule, verdict in answer["verdicts"]} == {
        rule: verdict.value for rule, verdict in wanted.rules.items()
    }
    assert answer["violations"] == sorted([row.broker, row.rule, row.seq] for row in wanted.violations) != []
