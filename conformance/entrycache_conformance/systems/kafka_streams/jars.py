"""The released jars of `kafka-streams`, and a case as a Java test for them.

`KAFKA_STREAMS` is the family of jars. `JAVA` says how the template of the Java test is filled: which optional parts and
imports a case needs, and the call of each step.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from entrycache_conformance.systems.java_text import method_name, to_literal
from entrycache_protocol import errors, system
from entrycache_reference.kafka_streams import ops

_DEFAULTS: Final = {"max_size_bytes": 10_485_760, "reentry_budget": 8}

_OPS: Final = {op.name: op for op in ops.OPS if op.name != "share"}
"""The operations; their arguments are those of the Java calls, in their order."""

_ENTRY: Final = ("put", "put_if_absent")
_QUERIES: Final = frozenset({"get", "range", "reverse_range", "all", "reverse_all", "usage", "metrics"})
_WITH_OPTIONS: Final = ("store_open", "view_open", "window_view", "session_view")
"""The operations whose arguments, but for names, are passed as a map: an absent one has a meaning of its own."""

_NUMBERS: Final = ("timestamp", "offset", "partition")

_ALWAYS: Final = (
    "java.lang.reflect.Constructor",
    "java.lang.reflect.UndeclaredThrowableException",
    "java.nio.charset.StandardCharsets",
    "java.util.ArrayList",
    "java.util.Arrays",
    "java.util.Comparator",
    "java.util.LinkedHashMap",
    "java.util.List",
    "java.util.Map",
    "org.apache.kafka.common.metrics.Metrics",
    "org.apache.kafka.common.utils.Bytes",
    "org.apache.kafka.common.utils.Time",
    "org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl",
)

_BY_PART: Final = {
    "cache": (
        "java.lang.reflect.Field",
        "java.util.concurrent.atomic.AtomicLong",
        "org.apache.kafka.common.header.internals.RecordHeaders",
        "org.apache.kafka.streams.KeyValue",
        "org.apache.kafka.streams.processor.internals.ProcessorRecordContext",
    ),
    "looks": ("java.lang.reflect.Field", "org.apache.kafka.streams.KeyValue"),
    "stores": (
        "java.lang.reflect.InvocationHandler",
        "java.lang.reflect.InvocationTargetException",
        "java.lang.reflect.Method",
        "java.lang.reflect.Proxy",
        "java.util.HashMap",
        "java.util.Optional",
        "org.apache.kafka.common.header.internals.RecordHeaders",
        "org.apache.kafka.streams.KeyValue",
        "org.apache.kafka.streams.processor.StateStore",
        "org.apache.kafka.streams.processor.StateStoreContext",
        "org.apache.kafka.streams.processor.TaskId",
        "org.apache.kafka.streams.processor.internals.InternalProcessorContext",
        "org.apache.kafka.streams.processor.internals.ProcessorRecordContext",
        "org.apache.kafka.streams.state.KeyValueIterator",
    ),
    "views": (
        "org.apache.kafka.common.serialization.StringSerializer",
        "org.apache.kafka.streams.errors.InvalidStateStoreException",
        "org.apache.kafka.streams.query.KeyQuery",
        "org.apache.kafka.streams.query.PositionBound",
        "org.apache.kafka.streams.query.Query",
        "org.apache.kafka.streams.query.QueryConfig",
        "org.apache.kafka.streams.query.RangeQuery",
        "org.apache.kafka.streams.state.ReadOnlyKeyValueStore",
    ),
    "isolation": ("java.util.Locale", "org.apache.kafka.common.IsolationLevel"),
    "windows": (
        "org.apache.kafka.streams.kstream.Windowed",
        "org.apache.kafka.streams.kstream.internals.SessionWindow",
        "org.apache.kafka.streams.state.SessionStore",
        "org.apache.kafka.streams.state.WindowStore",
        "org.apache.kafka.streams.state.WindowStoreIterator",
    ),
}


def _fill(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values for the template."""
    parts = _parts(case["steps"])
    config = {**_DEFAULTS, **case.get("config", {})}
    return {**config, "parts": parts, "imports": _imports(parts)}


def _parts(steps: Any) -> frozenset[str]:
    """Return the names of the optional parts that the text needs."""
    used = _used(steps)
    windows = {name for name in used if name in _OPS and _OPS[name].level == "windows"} | _opened_kinds(steps)
    views = {name for name in used if name in _OPS and _OPS[name].level == "views"}
    stores = {name for name in used if name in _OPS and _OPS[name].level != "cache"}
    parts = {
        "stores": stores,
        "views": views,
        "windows": windows,
        "looks": used & _QUERIES,
        "cache": used - stores - _QUERIES,
        "isolation": _isolations(steps),
    }
    return frozenset(part for part, because in parts.items() if because)


def _isolations(steps: Any) -> frozenset[str]:
    """Return the isolations of the views, including those inside callbacks."""
    inner = [each for step in steps for each in (*step.get("on_flush", ()), *step.get("steps", ()))]
    of_steps = frozenset(step["isolation"] for step in steps if step.get("isolation"))
    return of_steps | (_isolations(inner) if inner else frozenset())


def _opened_kinds(steps: Any) -> frozenset[str]:
    """Return the kinds of stores that are opened, besides those of keys."""
    return frozenset(step["kind"] for step in steps if step["op"] == "store_open" and step.get("kind", "kv") != "kv")


def _imports(parts: frozenset[str]) -> list[str]:
    """Return the names to import, sorted."""
    return sorted({*_ALWAYS, *(name for part in parts for name in _BY_PART[part])})


def _call(step: Mapping[str, Any]) -> str:
    """Return the call of the template's method for an operation.

    Raises:
        UsageError: there is no such method.
    """
    name = step["op"]
    if name not in _OPS:
        raise errors.UsageError(f"there is no Java test for the op {name}; there is one for {', '.join(_OPS)}")
    return f"{method_name(name)}({', '.join(_arguments(name, step))})"


def _arguments(name: str, step: Mapping[str, Any]) -> list[str]:
    if name in _ENTRY:
        return [to_literal(step["ns"]), to_literal(step["key"]), _entry(step)]
    if name == "put_all":
        pairs = [part for each in step["entries"] for part in (to_literal(each["key"]), _entry(each))]
        return [to_literal(step["ns"]), *pairs]
    if name == "listen":
        return [to_literal(step["ns"]), to_literal(step.get("fails", 0)), *_lambdas(step.get("on_flush", ()))]
    if name == "on_forward":
        return [to_literal(step["store"]), to_literal(step["key"]), *_lambdas(step["steps"])]
    if name in ("usage", "metrics"):
        return [to_literal(step["ns"])] if step.get("ns") is not None else []
    if name == "range":
        bounds = [to_literal(step[bound]) for bound in ("from", "to")]
        return [to_literal(step["ns"]), *bounds, to_literal(step.get("to_inclusive", True))]
    if name in _WITH_OPTIONS:
        first = [field for field in ("view", "store") if field in step]
        given = {argument: value for argument, value in step.items() if argument not in ("op", *first)}
        return [*(to_literal(step[field]) for field in first), to_literal(given)]
    fields = [field for field in dataclasses.fields(_OPS[name]) if field.name != "isolation" or "isolation" in step]
    return [to_literal(step.get(field.name.rstrip("_"), field.default)) for field in fields]


def _lambdas(steps: Any) -> list[str]:
    return [f"() -> {_call(each)}" for each in steps]


def _entry(step: Mapping[str, Any]) -> str:
    given = [step["value"], step.get("dirty", False), step.get("topic", ""), *(step.get(name) for name in _NUMBERS)]
    headers = [part for header in step.get("headers", ()) for part in header]
    return f"entry({', '.join(to_literal(each) for each in (*given, *headers))})"


def _used(steps: Any) -> frozenset[str]:
    """Return the operations of the steps, including those inside callbacks."""
    inner = [each for step in steps for each in (*step.get("on_flush", ()), *step.get("steps", ()))]
    return frozenset(step["op"] for step in steps) | (_used(inner) if inner else frozenset())


JAVA: Final = system.JavaText("systems/kafka_streams/java", _call, _fill)


KAFKA_STREAMS: Final = system.Family(
    name="kafka-streams",
    title="Kafka Streams",
    system="kafka-streams",
    coordinates="org.apache.kafka:kafka-streams",
    main="org.apache.kafka.streams.state.internals.KafkaStreamsDriver",
    modules=("protocol",),
    text=JAVA,
)
