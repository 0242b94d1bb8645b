"""The released jars of `pulsar-pip430`, and a case as a Java test for them.

`PULSAR` is the family of jars. `JAVA` says how the template of the Java test is filled: which optional parts and
imports a case needs, and the call of each step.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from entrycache_conformance.systems.java_text import method_name, to_literal, to_number
from entrycache_conformance.systems.pulsar import imports
from entrycache_protocol import errors, system
from entrycache_reference.pulsar_pip430 import ops

_OPS: Final = system.index_ops(ops.OPS, without=("limits", "pending", "ledger"))
"""The operations, but for those of levels that need storage, executors, a limiter or a table of pending reads.

Their arguments are those of the Java calls, in their order.
"""

_CLOCK_OPS: Final = frozenset({"advance", "expire", "observe", "cycle", "should_cache"})
_PAYLOAD_OPS: Final = frozenset({"insert", "get", "get_range", "read", "read_one"})
_STORAGE_OPS: Final = frozenset({"read", "read_one"})

_OVERLOADED: Final = frozenset({"usage", "expire"})
"""Operations with a Java method for each number of arguments; elsewhere an absent argument is null."""

_ABSENT: Final = {"insert": {"expected_reads": "noCount()", "token": "0L"}}
"""The text in the call for an absent argument."""

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


def _fill(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values for the template."""
    config = {**_DEFAULTS, **case.get("config", {})}
    used = frozenset(step["op"] for step in case["steps"])
    parts = _parts(used, config)
    return {
        "ops": used,
        "parts": parts,
        "imports": imports(parts),
        "agent_option": "",
        "settings": [text.format(to_number(config[name])) for name, text in _SETTERS.items()],
        "ttl_nanos": config["ttl_nanos"],
        "caching": config["max_size_bytes"] > 0,
        "manual": to_number(config["eviction"] == "manual"),
        "ranks": config["evict_by_expected_reads"],
        "grace_millis": config.get("grace_millis", 2 * config["ttl_nanos"] // 1_000_000),
        "storage_entry_size": config["storage_entry_size"],
    }


def _parts(used: frozenset[str], config: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the optional parts that the text needs."""
    cursor_ops = {name for name, op in _OPS.items() if op.level == "cursors"}
    needed = {
        "clock": used & _CLOCK_OPS,
        "manager": used - cursor_ops - {"advance"},
        "insert": used & {"insert"},
        "observe": used & {"observe"},
        "payload": used & _PAYLOAD_OPS,
        "wrappers": used & {"observe", "mark_read", "expect_read"},
        "range": used & {"read"},
        "storage": used & _STORAGE_OPS,
        "reads": used & (_STORAGE_OPS | {"release"}),
        "cursors": used & cursor_ops,
    }
    parts = {part for part, because in needed.items() if because}
    if "cursors" in parts:
        parts.add("active" if config["evict_by_expected_reads"] else "heap")
    return frozenset(parts)


def _call(step: Mapping[str, Any]) -> str:
    """Return the call of the template's method for an operation."""
    name = step["op"]
    if name not in _OPS:
        raise errors.UsageError(f"there is no Java test for the op {name}; there is one for {', '.join(_OPS)}")
    given = {field.name: step.get(field.name) for field in dataclasses.fields(_OPS[name])}
    if name in _OVERLOADED:
        given = {argument: value for argument, value in given.items() if value is not None}
    absent = _ABSENT.get(name, {})
    arguments = [
        absent.get(argument, "null") if value is None else _argument(argument, value)
        for argument, value in given.items()
    ]
    if name in ("mark_read", "expect_read"):
        return f"count({', '.join(arguments)}, {to_literal(name == 'mark_read')})"
    return f"{method_name(name)}({', '.join(arguments)})"


def _argument(name: str, value: Any) -> str:
    if name in ("pos", "first", "last"):
        return f"at({value[0]}L, {value[1]}L)"
    if name in _INTS:
        return str(value)
    return repr(float(value)) if name == "watermark" else to_literal(value)


JAVA: Final = system.JavaText("systems/pulsar_pip430/java", _call, _fill)


COORDINATES: Final = "org.apache.pulsar:managed-ledger"
NEVER_MERGED: Final = (
    "its system, pulsar-segmented, was proposed and never merged (pull request 15955); "
    "bookkeeper:4.18.2 is the cache whose design it follows"
)


UNRESOLVED: Final = "does not resolve: Maven finds no such jar"

ABSENT: Final = (
    system.AbsentRelease("pulsar:4.1.0", f"{COORDINATES}:4.1.0", False, UNRESOLVED),
    system.AbsentRelease("pulsar:4.1.1", f"{COORDINATES}:4.1.1", False, UNRESOLVED),
    system.AbsentRelease("pulsar:4.2.0", f"{COORDINATES}:4.2.0", False, UNRESOLVED),
    system.AbsentRelease("pulsar:4.2.1", f"{COORDINATES}:4.2.1", False, UNRESOLVED),
    system.AbsentRelease("pulsar:4.2.2", f"{COORDINATES}:4.2.2", False, UNRESOLVED),
    system.AbsentRelease("pulsar:4.2.3", f"{COORDINATES}:4.2.3", False, UNRESOLVED),
    system.AbsentRelease("pulsar:PIP-174", "", False, NEVER_MERGED),
)
"""The releases for which no jar exists."""

PULSAR: Final = system.Family(
    name="pulsar",
    title="Pulsar",
    system="pulsar-pip430",
    coordinates=COORDINATES,
    main="org.apache.bookkeeper.mledger.impl.cache.Pip430Driver",
    modules=("agent", "protocol"),
    options=("-Dio.netty.leakDetection.level=disabled",),
    absent=ABSENT,
    text=JAVA,
)
