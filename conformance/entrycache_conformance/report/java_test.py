"""A case as one Java file that drives the released Pulsar classes, without other code of ours than the agent."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import jinja2

from entrycache_conformance.report.java_imports import imports
from entrycache_reference.errors import UsageError
from entrycache_reference.pulsar_pip430 import ops

CLASS_NAME: Final = "EntryCacheCaseTest"
"""The class, and without ``.java`` the file, of a stand-alone test."""

RELEASES: Final = "4.2.4, 5.0.0-M1, 5.0.1"
"""The releases that the text compiles and runs with."""

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
    if case["system"] != "pulsar-pip430":
        raise UsageError(f"there is no Java test for the system {case['system']}; there is one for pulsar-pip430")
    if len(outcomes) != len(steps):
        raise UsageError(f"the case has {len(outcomes)} outcomes for {len(steps)} steps; a test needs them all")
    lines = [
        {
            "index": index,
            "text": _string(json.dumps(step).replace('"', "")),
            "call": _call(step),
            "expected": _literal({key: value for key, value in outcome.items() if key != "message"}),
            "mismatch": index == mismatch_step,
        }
        for index, (step, outcome) in enumerate(zip(steps, outcomes, strict=True))
    ]
    config = {**_DEFAULTS, **case.get("config", {})}
    used = frozenset(step["op"] for step in steps)
    parts = _parts(used, config)
    return _template().render(
        name=CLASS_NAME,
        releases=RELEASES,
        rules=_comment(", ".join(case.get("rules", ()))),
        note=_comment(case.get("note", "")),
        ops=used,
        parts=parts,
        imports=imports(parts),
        steps=[lines[start : start + STEPS_A_METHOD] for start in range(0, len(lines), STEPS_A_METHOD)],
        settings=[text.format(_number(config[name])) for name, text in _SETTERS.items()],
        ttl_nanos=config["ttl_nanos"],
        caching=config["max_size_bytes"] > 0,
        manual=_number(config["eviction"] == "manual"),
        ranks=config["evict_by_expected_reads"],
        grace_millis=config.get("grace_millis", 2 * config["ttl_nanos"] // 1_000_000),
        storage_entry_size=config["storage_entry_size"],
    )


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


def _template() -> jinja2.Template:
    """Names in the text that the case does not fill are an error; Java is not HTML, nothing is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("entrycache_conformance", "report/java"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template("test.java.j2")


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
        return f"count({', '.join(arguments)}, {_literal(name == 'mark_read')})"
    words = name.split("_")
    return f"{words[0]}{''.join(word.title() for word in words[1:])}({', '.join(arguments)})"


def _argument(name: str, value: Any) -> str:
    if name in ("pos", "first", "last"):
        return f"at({value[0]}L, {value[1]}L)"
    if name in _INTS:
        return str(value)
    return repr(float(value)) if name == "watermark" else _literal(value)


def _literal(value: Any) -> str:
    """A JSON value as a Java expression over ``map`` and ``list``."""
    if isinstance(value, Mapping):
        return f"map({', '.join(f'{_string(key)}, {_literal(part)}' for key, part in value.items())})"
    if isinstance(value, list | tuple):
        return f"list({', '.join(_literal(part) for part in value)})"
    if isinstance(value, str):
        return _string(value)
    return "null" if value is None else _number(value)


def _number(value: bool | int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value}L" if isinstance(value, int) else repr(value)


def _string(text: str) -> str:
    """JSON escapes what Java escapes, in the same way, once everything but ASCII is escaped."""
    return json.dumps(text)


def _comment(text: str) -> str:
    """One line that cannot end the comment: Java reads unicode escapes there too."""
    return " ".join(text.replace("\\", "/").replace("*/", "* /").split())
