"""A cluster of two workers gives the same verdicts, with the package as a zip and an executor killed during the job."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from entrycache_spark.folders import audit_folder
from tests.support import ROOT
from tests.support.traces import plant

PACKAGES: Final = (
    "reference/entrycache_reference",
    "conformance/entrycache_protocol",
    "conformance/entrycache_fast",
    "spark_checks/entrycache_trace",
    "spark_checks/entrycache_spark",
)
"""The packages that an executor needs."""

JOB: Final = """
import json, os, signal, sys, time
from pathlib import Path
from pyspark.sql import SparkSession
from entrycache_spark import audit
from entrycache_trace.files import Metadata

spark = SparkSession.builder.getOrCreate()
folder, killed, lost = sys.argv[1], Path(sys.argv[2]), sys.argv[3] == "kill"

def slowly(batches):
    "The first task that comes here ends the JVM above it."
    for batch in batches:
        if lost:
            try:
                killed.touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                above = int(open(f"/proc/{os.getppid()}/stat").read().split(")")[1].split()[1])
                os.kill(above, signal.SIGKILL)
                time.sleep(60)
        yield batch

frame = spark.read.option("basePath", folder).parquet(f"{folder}/broker=*")
found = audit(frame.mapInArrow(slowly, frame.schema), Metadata()).collect()
import entrycache_spark
told = sorted([row.broker, row.rule, violation.seq] for row in found for violation in row.violations)
print(json.dumps({"from": entrycache_spark.__file__, "told": told, "verdicts": len(found)}))
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cluster")
    base = plant.honest(folder / "honest", 600, 4)["broker-0"]
    rows = plant.renamed(base, "clean")
    for name in ("b1", "b2", "b3"):
        own = plant.renamed(base, name)
        own[50]["bytes_after"] += 1
        rows += own
    return plant.write(folder / "trace", rows)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("package") / "entrycache.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in PACKAGES:
            folder = ROOT / name
            for file in sorted(folder.rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    archive.write(file, file.relative_to(folder.parent))
    return path


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a standalone master and two workers of one processor each."""
    folder = tmp_path_factory.mktemp("workers")
    with ExitStack() as stack:
        port = free_port()
        url = f"spark://127.0.0.1:{port}"
        at = ("--host", "127.0.0.1", "--webui-port", "0")
        start(stack, folder / "master", "org.apache.spark.deploy.master.Master", *at, "--port", str(port))
        for name in ("one", "two"):
            size = ("--cores", "1", "--memory", "900m", "--work-dir", str(folder / name))
            start(stack, folder / name, "org.apache.spark.deploy.worker.Worker", *at, *size, url)
        deadline = time.monotonic() + 180
        while (folder / "master.log").read_text().count("Registering worker") < 2:
            assert time.monotonic() < deadline, (folder / "master.log").read_text()
            time.sleep(0.5)
        yield url


def spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


def environment() -> dict[str, str]:
    """Return an environment without our sources on the path, with the Python that has the libraries."""
    own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SPARK_HOME")}
    return {**own, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "SPARK_NO_DAEMONIZE": "1"}


def start(stack: ExitStack, log: Path, *arguments: str) -> None:
    out = stack.enter_context(log.with_suffix(".log").open("w"))
    command = [str(spark_home() / "bin" / "spark-class"), *arguments]
    child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment(), cwd=log.parent)
    stack.callback(child.wait)
    stack.callback(child.terminate)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.mark.long
@pytest.mark.parametrize("lost", ["", "kill"])
def test_spark_submit_with_one_zip_gives_the_same_verdicts(
    master: str, package: Path, trace: Path, tmp_path: Path, lost: str
) -> None:
    job = tmp_path / "job.py"
    job.write_text(JOB)
    killed = tmp_path / "killed"
    submit = [str(spark_home() / "bin" / "spark-submit"), "--master", master, "--py-files", str(package)]
    submit += ["--conf", "spark.executor.memory=600m", str(job), str(trace), str(killed), lost or "no"]
    done = subprocess.run(
        submit, check=False, capture_output=True, text=True, env=environment(), cwd=tmp_path, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    wanted = audit_folder(trace, "local")
    assert answer["told"] == sorted([row.broker, row.rule, row.seq] for row in wanted.violations)
    assert len(answer["told"]) >= 3
    assert answer["verdicts"] == sum(len(own) for own in wanted.brokers.values())
    assert str(package) in answer["from"] or "entrycache.zip" in answer["from"], answer["from"]
    assert killed.exists() is bool(lost)


OLD_JAVA: Final = """#!/bin/sh
echo 'java.lang.UnsupportedClassVersionError: class file version 61.0' >&2
exit 1
"""


@pytest.mark.long
def test_workers_with_an_old_java_end_an_audit(master: str, trace: Path, tmp_path: Path) -> None:
    """Spark starts their executors again and again."""
    java = tmp_path / "old" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(OLD_JAVA)
    java.chmod(0o755)
    conf = f"--conf spark.executorEnv.JAVA_HOME={tmp_path / 'old'} --conf spark.executor.memory=600m pyspark-shell"
    more = {"PYSPARK_SUBMIT_ARGS": conf, "ENTRYCACHE_EXECUTOR_SECONDS": "10", "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [
        sys.executable,
        "-m",
        "entrycache_cli",
        "audit",
        str(trace),
        "--master",
        master,
        "--out",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(
        argv, check=False, capture_output=True, text=True, env={**environment(), **more}, cwd=tmp_path, timeout=300
    )
    assert done.returncode == 4, done.stderr[-3_000:]
    assert f"no executor has started at {master} in 10 s" in done.stderr.splitlines()[-1]
