"""A case as one Java file that drives the released classes, without other code of ours than the agent."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import jinja2

from entrycache_cli.report.java_imports import imports
from entrycache_cli.report.java_kafka import DEFAULTS as STREAMS_DEFAULTS
from entrycache_cli.report.java_kafka import call_of, imports_of, parts_of
from entrycache_cli.report.java_text import comment, literal, method, number, string, without_messages
from entrycache_conformance.java.releases import versions
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.errors import UsageError
from entrycache_reference.pulsar_pip430 import ops

CLASS_NAME: Final = "EntryCacheCaseTest"
"""The class, and without ``.java`` the file, of a stand-alone test."""

STEPS_A_METHOD: Final = 20
"""A Java method holds 64 KiB of code."""

_OPS: Final = {op.name: op for op in ops.OPS}
"""Their arguments are those of the Java calls, in their order."""

_CLOCK_OPS: Final = frozenset({"advance", "expire", "observe", "cycle", "should_cache"})
_CURSOR_OPS: Final = frozenset(op.name for op in ops.OPS if op.level == "cursors")
_PAYLOAD_OPS: Final = frozenset({"insert", "get", "get_range", "read", "read_one"})
_STORAGE_OPS: Final = frozenset({"read", "read_one"})

_OVERLOADED: Final = frozenset({"usage", "expire"})
"""Ops with a Java method for each number of arguments; elsewhere what is absent is null."""

_ABSENT: Final = {"insert": {"expected_reads": "noCount()", "token": "0L"}}
"""What stands in the call for an argument that is absent."""

_INTS: Final = frozenset({"size", "expected_reads", "max_requeues"})

_SETTERS: Final = {
    "max_size_bytes": "config.setMaxCacheSize({});",
    "watermark": "config.setCacheEvictionWatermark({});",
    "max_requeues": "config.setCacheEvictionExtendTTLOfEntriesWithRemainingExpectedReadsMaxTimes((int) {});",
    "extend_recently_accessed": "config.setCacheEvictionExtendTTLOfRecentlyAccessed({});",
}

_DEFAULTS: Final = {
    "max_size_bytes": 134_217_728,
    "watermark": 0.9,
    "ttl_nanos": 1_000_000_000,
    "max_requeues": 5,
    "extend_recently_accessed": True,
    "evict_by_expected_reads": True,
    "eviction": "inline",
    "storage_entry_size": 100,
}


def java_test(case: Mapping[str, Any], mismatch_step: int | None = None) -> str:
    """The text of the file ``EntryCacheCaseTest.java``.

    ``case`` is the JSON object with the reference's ``outcomes``; the test checks every one of them. The step
    ``mismatch_step``, where a subject answered otherwise, gets a comment.
    """
    steps: Sequence[Mapping[str, Any]] = case["steps"]
    outcomes: Sequence[Mapping[str, Any]] = case.get("outcomes", ())
    if case["system"] not in _CALLS:
        known = ", ".join(_CALLS)
        raise UsageError(f"there is no Java test for the system {case['system']}; there is one for {known}")
    if len(outcomes) != len(steps):
        raise UsageError(f"the case has {len(outcomes)} outcomes for {len(steps)} steps; a test needs them all")
    lines = [
        {
            "index": index,
            "text": string(json.dumps(step).replace('"', "")),
            "call": _CALLS[case["system"]](step),
            "expected": literal(without_messages(outcome)),
            "mismatch": index == mismatch_step,
        }
        for index, (step, outcome) in enumerate(zip(steps, outcomes, strict=True))
    ]
    common = {
        "name": CLASS_NAME,
        "releases": ", ".join(_releases(case["system"])),
        "rules": comment(", ".join(case.get("rules", ()))),
        "note": comment(case.get("note", "")),
        "steps": [lines[start : start + STEPS_A_METHOD] for start in range(0, len(lines), STEPS_A_METHOD)],
    }
    if case["system"] == "kafka-streams":
        parts = parts_of(steps)
        config = {**STREAMS_DEFAULTS, **case.get("config", {})}
        text = _template("streams/test.java.j2")
        return text.render(**common, **config, parts=parts, imports=imports_of(parts))
    config = {**_DEFAULTS, **case.get("config", {})}
    used = frozenset(step["op"] for step in steps)
    parts = _parts(used, config)
    return _template("test.java.j2").render(
        **common,
        ops=used,
        parts=parts,
        imports=imports(parts),
        settings=[text.format(number(config[name])) for name, text in _SETTERS.items()],
        ttl_nanos=config["ttl_nanos"],
        caching=config["max_size_bytes"] > 0,
        manual=number(config["eviction"] == "manual"),
        ranks=config["evict_by_expected_reads"],
        grace_millis=config.get("grace_millis", 2 * config["ttl_nanos"] // 1_000_000),
        storage_entry_size=config["storage_entry_size"],
    )


def _releases(system: str) -> tuple[str, ...]:
    """The releases that the text compiles and runs with."""
    family = SYSTEMS[system].jvm
    return () if family is None else versions(family.name)


def _parts(used: frozenset[str], config: Mapping[str, Any]) -> frozenset[str]:
    """What the text needs: the names of its optional parts."""
    needed = {
        "clock": used & _CLOCK_OPS,
        "manager": used - _CURSOR_OPS - {"advance"},
        "insert": used & {"insert"},
        "observe": used & {"observe"},
        "payload": used & _PAYLOAD_OPS,
        "wrappers": used & {"observe", "mark_read", "expect_read"},
        "range": used & {"read"},
        "storage": used & _STORAGE_OPS,
        "reads": used & (_STORAGE_OPS | {"release"}),
        "cursors": used & _CURSOR_OPS,
    }
    parts = {part for part, because in needed.items() if because}
    if "cursors" in parts:
        parts.add("active" if config["evict_by_expected_reads"] else "heap")
    return frozenset(parts)


def _template(name: str) -> jinja2.Template:
    """Names in the text that the case does not fill are an error; Java is not HTML, nothing is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("entrycache_cli", "report/java"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template(name)


def _call(step: Mapping[str, Any]) -> str:
    """The call of the template's method for the op."""
    name = step["op"]
    if name not in _OPS:
        raise UsageError(f"there is no Java test for the op {name}; there is one for {', '.join(_OPS)}")
    given = {field.name: step.get(field.name) for field in dataclasses.fields(_OPS[name])}
    if name in _OVERLOADED:
        given = {argument: value for argument, value in given.items() if value is not None}
    absent = _ABSENT.get(name, {})
    arguments = [
        absent.get(argument, "null") if value is None else _argument(argument, value)
        for argument, value in given.items()
    ]
    if name in ("mark_read", "expect_read"):
        return f"count({', '.join(arguments)}, {literal(name == 'mark_read')})"
    return f"{method(name)}({', '.join(arguments)})"


def _argument(name: str, value: Any) -> str:
    if name in ("pos", "first", "last"):
        return f"at({value[0]}L, {value[1]}L)"
    if name in _INTS:
        return str(value)
    return repr(float(value)) if name == "watermark" else literal(value)


_CALLS: Final = {"pulsar-pip430": _call, "kafka-streams": call_of}
