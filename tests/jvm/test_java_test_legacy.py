"""A case of pulsar-legacy as one Java file passes on 4.0.8 with every operation, and fails where a jar differs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from entrycache_cli.commands.replay import export_test
from entrycache_conformance.java.driver import JavaTestClasspath, java_test_classpath
from entrycache_conformance.java.program import CLASS_NAME, render_java_test
from entrycache_conformance.resolve import SubjectChoice
from entrycache_conformance.systems import SYSTEMS
from entrycache_dev.changed_jars import PULSAR_LEGACY_CHANGES, PULSAR_LEGACY_RELEASE, write_changed_jar
from entrycache_protocol.errors import MissingPrerequisite, UsageError
from tests.support.jvm.java_file import Compiled

A: dict[str, Any] = {"cache": "a"}
RANGE: dict[str, Any] = {"first": [1, 0], "last": [1, 1]}
STEPS: list[dict[str, Any]] = [
    {"op": "insert", "cache": "a", "pos": [1, 0], "size": 10, "token": 5},
    {"op": "insert", "cache": "b", "pos": [1, 0], "size": 20},
    {"op": "insert", "cache": "b", "pos": [1, 1], "size": -1},
    {"op": "get", "cache": "b", "pos": [1, 0]},
    {"op": "get_range", **A, "first": [0, -1], "last": [2, 0]},
    {"op": "get_range", **A, "first": [2, -1], "last": [1, 0]},
    {"op": "exists", "cache": "b", "pos": [1, 1]},
    {"op": "advance", "nanos": 5},
    {"op": "observe"},
    {"op": "expire", **A, "older_than_nanos": 5},
    {"op": "expire", **A},
    {"op": "evict", "bytes": 1},
    {"op": "evict", "bytes": 0},
    {"op": "remove_range", "cache": "b", "first": [1, 1], "last": [1, 0], "last_inclusive": True},
    {"op": "read", **A, **RANGE},
    {"op": "read", **A, **RANGE},
    *({"op": "read_one", **A, "pos": [1, entry]} for entry in (0, 7)),
    *({"op": "insert", "cache": "c", "pos": [1, entry], "size": 60} for entry in (0, 1)),
    {"op": "usage"},
    {"op": "usage", "cache": "c"},
    {"op": "evict_cache", "cache": "c", "bytes": 1},
    {"op": "invalidate_before", **A, "pos": [1, 1]},
    {"op": "invalidate_ledger", **A, "ledger": 2},
    {"op": "run_scheduled"},
    {"op": "remove_cache", "cache": "c"},
    {"op": "clear", **A},
    {"op": "usage"},
]
CONFIG: dict[str, Any] = {"max_size_bytes": 250, "watermark": 0.5, "ttl_nanos": 4}


def case(config: dict[str, Any], steps: list[dict[str, Any]], folder: Path) -> str:
    """Return the case in a file, and its Java test with the reference's answers."""
    file = folder / "case.json"
    file.write_text(json.dumps({"system": "pulsar-legacy", "config": config, "steps": steps}), "utf-8")
    return export_test(file, "java", SubjectChoice(None))


@pytest.fixture(scope="module")
def tools() -> JavaTestClasspath:
    try:
        return java_test_classpath(PULSAR_LEGACY_RELEASE)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))


def compiled_text(text: str, tools: JavaTestClasspath, folder: Path) -> Compiled:
    from entrycache_conformance.java.program import compile_sources, main_class

    source = folder / f"{CLASS_NAME}.java"
    source.write_text(text, "utf-8")
    compile_sources([source], tools, folder / "out")
    return Compiled(main_class(source), folder / "out")


def test_the_release_passes_with_every_op_and_a_changed_jar_fails(tools: JavaTestClasspath, tmp_path: Path) -> None:
    assert {step["op"] for step in STEPS} == set(SYSTEMS["pulsar-legacy"].ops)
    classes = compiled_text(case(CONFIG, STEPS, tmp_path), tools, tmp_path)
    done = classes.run(tools, *tools.options)
    assert (done.returncode, done.stdout) == (0, "conforms\n"), done.stderr
    jar = write_changed_jar(PULSAR_LEGACY_CHANGES["legacy-cutoff-is-young"], tmp_path / "changed.jar")
    changed = java_test_classpath(PULSAR_LEGACY_RELEASE, str(jar))
    done = classes.run(changed, *changed.options)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "step 9: {op: expire, cache: a, older_than_nanos: 5}"


@pytest.mark.long
def test_passes_wait_and_no_clock_needs_no_agent(tools: JavaTestClasspath, tmp_path: Path) -> None:
    steps = [
        *({"op": "insert", **A, "pos": [1, entry], "size": size} for entry, size in enumerate((50, 30, 19))),
        {"op": "insert", **A, "pos": [1, 0], "size": 1},
        {"op": "run_scheduled"},
        {"op": "run_scheduled"},
    ]
    text = case({"max_size_bytes": 100, "eviction": "manual"}, steps, tmp_path)
    assert "javaagent" not in text
    done = compiled_text(text, tools, tmp_path).run(tools)
    assert (done.returncode, done.stdout) == (0, "conforms\n"), done.stderr


def test_the_file_says_which_releases_it_fits_and_refuses_an_unknown_op(tmp_path: Path) -> None:
    text = case({}, STEPS[:1], tmp_path)
    assert "released classes of Pulsar: 4.0.0, 4.0.8." in text
    with pytest.raises(UsageError, match="no Java test for the op mark_read"):
        render_java_test(
            {"system": "pulsar-legacy", "config": {}, "steps": [{"op": "mark_read"}], "outcomes": [{}]}, None
        )
