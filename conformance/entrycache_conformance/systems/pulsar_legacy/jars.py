"""The released jars of `pulsar-legacy`, and a case as a Java test for them.

`PULSAR_LEGACY` is the family of jars; its subjects are called `pulsar:VERSION` too. `JAVA` says how the template of the
Java test, which it shares with `pulsar-pip430`, is filled.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from entrycache_conformance.systems.java_text import method_name, to_literal, to_number
from entrycache_conformance.systems.pulsar import imports
from entrycache_protocol import errors, system
from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.config import STORED_BYTES

_OPS: Final = {op.name: op for op in ops.OPS}
"""The operations; their arguments are those of the Java calls, in their order."""

_CLOCK_OPS: Final = frozenset({"advance", "expire", "observe"})
_PAYLOAD_OPS: Final = frozenset({"insert", "get", "get_range", "read", "read_one"})
_STORAGE_OPS: Final = frozenset({"read", "read_one"})
_POSITIONS: Final = ("pos", "first", "last")

_SETTERS: Final = {
    "max_size_bytes": "config.setMaxCacheSize({});",
    "watermark": "config.setCacheEvictionWatermark({});",
}
_DEFAULTS: Final = {
    "max_size_bytes": 134_217_728,
    "watermark": 0.9,
    "ttl_nanos": 1_000_000_000,
    "eviction": "inline",
}
_ALWAYS: Final = (
    "com.google.common.util.concurrent.ListeningScheduledExecutorService",
    "java.lang.reflect.Constructor",
    "java.util.ArrayList",
    "java.util.Collection",
    "java.util.concurrent.ConcurrentSkipListMap",
    "java.util.concurrent.ExecutorService",
    "org.apache.bookkeeper.common.util.OrderedExecutor",
    "org.apache.bookkeeper.common.util.OrderedScheduler",
    "org.apache.bookkeeper.mledger.impl.EntryImpl",
    "org.apache.bookkeeper.mledger.util.RangeCache",
)
"""The imports of the file in addition to those of `pulsar-pip430`."""

CLOCK_OPTION: Final = "-Dentrycache.clock.require=" + ",".join(
    f"org.apache.bookkeeper.mledger.impl.{name}" for name in ("EntryImpl", "cache.RangeEntryCacheManagerImpl")
)
"""The option that tells the agent which released classes read the clock; a stamp is made with the cached entry."""


def _fill(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values for the template."""
    config = {**_DEFAULTS, **case.get("config", {})}
    used = frozenset(step["op"] for step in case["steps"])
    needed = {
        "manager": used - {"advance"},
        "clock": used & _CLOCK_OPS,
        "payload": used & _PAYLOAD_OPS,
        "storage": used & _STORAGE_OPS,
        "reads": used & _STORAGE_OPS,
    }
    parts = frozenset(part for part, because in needed.items() if because)
    return {
        "ops": used,
        "parts": parts,
        "imports": sorted({*imports(parts), *(_ALWAYS if "manager" in parts else ())}),
        "agent_option": f"{CLOCK_OPTION} ",
        "settings": [text.format(to_number(config[name])) for name, text in _SETTERS.items()],
        "ttl_nanos": config["ttl_nanos"],
        "manual": to_number(config["eviction"] == "manual"),
        "storage_entry_size": STORED_BYTES,
    }


def _call(step: Mapping[str, Any]) -> str:
    """Return the call of the template's method for an operation. It has one method for each number of arguments."""
    name = step["op"]
    if name not in _OPS:
        raise errors.UsageError(f"there is no Java test for the op {name}; there is one for {', '.join(_OPS)}")
    given = {field.name: step.get(field.name) for field in dataclasses.fields(_OPS[name])}
    if name == "insert":
        given["token"] = given["token"] or 0
    arguments = [_argument(argument, value) for argument, value in given.items() if value is not None]
    return f"{method_name(name)}({', '.join(arguments)})"


def _argument(name: str, value: Any) -> str:
    if name in _POSITIONS:
        return f"at({value[0]}L, {value[1]}L)"
    return str(value) if name == "size" else to_literal(value)


JAVA: Final = system.JavaText(
    "systems/pulsar_legacy/java", _call, _fill, like="systems/pulsar_pip430/java", eras=("spins", "waits")
)


PULSAR_LEGACY: Final = system.Family(
    name="pulsar-legacy",
    title="Pulsar",
    system="pulsar-legacy",
    coordinates="org.apache.pulsar:managed-ledger",
    main="org.apache.bookkeeper.mledger.impl.cache.LegacyDriver",
    modules=("agent", "protocol"),
    options=("-Dio.netty.leakDetection.level=disabled", CLOCK_OPTION),
    alias="pulsar",
    shares=("pulsar/pom.xml", "pulsar/src/shared"),
    text=JAVA,
)
