"""A case as one Java file that drives the released Pulsar classes, without other code of ours than the agent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import jinja2

from entrycache_reference.errors import UsageError

CLASS_NAME: Final = "EntryCacheCaseTest"
"""The class, and without ``.java`` the file, of a stand-alone test."""

RELEASE: Final = "4.2.4"
"""The release that the text is written for; its neighbours may differ in signatures."""

STEPS_A_METHOD: Final = 20
"""A Java method holds 64 KiB of code."""

_CLOCK_OPS: Final = frozenset({"advance", "expire", "observe"})

_ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "insert": ("cache", "pos", "size", "expected_reads"),
    "get": ("cache", "pos"),
    "get_range": ("cache", "first", "last"),
    "exists": ("cache", "pos"),
    "remove_range": ("cache", "first", "last", "last_inclusive"),
    "clear": ("cache",),
    "usage": ("cache",),
    "advance": ("nanos",),
    "expire": ("older_than_nanos",),
    "evict": ("bytes",),
    "mark_read": ("cache", "pos"),
    "expect_read": ("cache", "pos"),
    "observe": (),
}
"""The ops there is a Java call for, and their arguments in the order of the call."""

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
    ops = frozenset(step["op"] for step in steps)
    config = {**_DEFAULTS, **case.get("config", {})}
    return _template().render(
        name=CLASS_NAME,
        version=RELEASE,
        rules=_comment(", ".join(case.get("rules", ()))),
        note=_comment(case.get("note", "")),
        ops=ops,
        needs_clock=bool(ops & _CLOCK_OPS),
        parts=[lines[start : start + STEPS_A_METHOD] for start in range(0, len(lines), STEPS_A_METHOD)],
        settings=[text.format(_number(config[name])) for name, text in _SETTERS.items()],
        ttl_nanos=config["ttl_nanos"],
    )


def _template() -> jinja2.Template:
    """Names in the text that the case does not fill are an error; Java is not HTML, nothing is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("entrycache_conformance", "report"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template("java_test.java.j2")


def _call(step: Mapping[str, Any]) -> str:
    """The call of the template's method for the op."""
    op = step["op"]
    if op not in _ARGUMENTS:
        raise UsageError(f"there is no Java test for the op {op}; there is one for {', '.join(_ARGUMENTS)}")
    given = {name: step.get(name) for name in _ARGUMENTS[op]}
    if op == "insert":
        given["expected_reads"] = given["expected_reads"] or 0
    arguments = [_argument(name, value) for name, value in given.items() if value is not None]
    if op in ("mark_read", "expect_read"):
        return f"count({', '.join(arguments)}, {_literal(op == 'mark_read')})"
    words = op.split("_")
    return f"{words[0]}{''.join(word.title() for word in words[1:])}({', '.join(arguments)})"


def _argument(name: str, value: Any) -> str:
    if name in ("pos", "first", "last"):
        return f"at({value[0]}L, {value[1]}L)"
    if name in ("size", "expected_reads"):
        return str(value)
    return _literal(value)


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
