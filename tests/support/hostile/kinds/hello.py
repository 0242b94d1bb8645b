"""Start answers that say something wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .speaker import KINDS, SYSTEM, Kind, Speaker


def hello(name: str, change: Callable[[dict[str, Any]], Any], code: int = 3) -> None:
    def misbehave(speaker: Speaker) -> None:
        changed = change(speaker.hello)
        if changed is not None:
            speaker.hello = changed

    assert name not in KINDS, name
    KINDS[name] = Kind(misbehave, code)


def offer(name: str, value: dict[str, Any], code: int = 3) -> None:
    hello(name, lambda said: said["systems"][SYSTEM].update(value), code)


def systems(name: str, value: Any, code: int = 3) -> None:
    hello(name, lambda said: said.update(systems=value), code)


for name, value in {"2": 2, "0": 0, "string": "1", "true": True, "float": 1.0, "null": None, "list": [1]}.items():
    hello(f"version-{name}", lambda said, value=value: said.update(version=value))
hello("version-missing", lambda said: {"systems": said["systems"]})
hello("systems-missing", lambda said: {"version": 1})
hello("hello-empty", lambda said: {})
GOOD = {"ops": ["insert", "get"]}
systems("systems-empty", {})
systems("systems-list", [SYSTEM])
systems("systems-null", None)
systems("systems-string", SYSTEM)
systems("system-null", {SYSTEM: None})
systems("system-list", {SYSTEM: ["insert"]})
systems("system-empty", {SYSTEM: {}})
systems("system-unknown", {"redis": GOOD})
systems("system-name-empty", {"": GOOD})
systems("system-name-with-lines", {"a\nb\r\x1b[2J\u2028": GOOD})
systems("system-name-endless", {"x" * 1_000_000: GOOD})
systems("system-name-surrogate", {"\ud800": GOOD})
systems("systems-several", {SYSTEM: GOOD, "pulsar-segmented": GOOD}, 2)
systems("systems-several-with-lines", {"a\nb": GOOD, "\x1b[2J": GOOD, "\ud800": GOOD}, 2)
systems("systems-thousands", {f"system-{number}": GOOD for number in range(5_000)}, 2)

offer("ops-null", {"ops": None})
offer("ops-string", {"ops": "insert"})
offer("ops-object", {"ops": {"insert": True}})
offer("ops-numbers", {"ops": [1, 2]})
offer("ops-nested", {"ops": [["insert"]]})
offer("ops-unknown", {"ops": ["insert", "get", "frobnicate"]})
offer("ops-wrong-case", {"ops": ["Insert", "get"]})
offer("ops-of-another-system", {"ops": ["insert", "put"]})
offer("ops-empty", {"ops": []}, 2)
offer("ops-observe-only", {"ops": ["observe"], "introspection": ["bytes"]}, 2)
offer("ops-of-another-level-only", {"ops": ["advance", "expire", "evict"]}, 2)
offer("ops-of-a-level-not-built", {"ops": ["cycle", "metrics"]}, 2)
offer("config-null", {"config": None})
offer("config-string", {"config": "ttl_nanos"})
offer("config-unknown", {"config": ["ttl_seconds"]})
offer("config-object", {"config": {"ttl_nanos": 5}})
offer("config-variants", {"config": ["variants"]})
offer("fixed-list", {"fixed": ["ttl_nanos"]})
offer("fixed-null", {"fixed": None})
offer("fixed-unknown", {"fixed": {"ttl_seconds": 5}})
offer("fixed-string", {"fixed": {"ttl_nanos": "5"}})
offer("fixed-negative", {"fixed": {"ttl_nanos": -5}})
offer("fixed-nan", {"fixed": {"watermark": float("nan")}})
offer("fixed-infinite", {"fixed": {"watermark": float("inf")}})
offer("fixed-watermark-2", {"fixed": {"watermark": 2}})
offer("fixed-one-for-true", {"fixed": {"extend_recently_accessed": 1}})
offer("fixed-beyond-integers", {"fixed": {"max_size_bytes": 2**60}})
offer("variants-list", {"variants": ["requeue_budget"]})
offer("variants-unknown", {"variants": {"colour": "blue"}})
offer("variants-unknown-value", {"variants": {"requeue_budget": "blue"}})
offer("variants-value-list", {"variants": {"requeue_budget": ["shared"]}})
offer("introspection-string", {"introspection": "queue"})
offer("introspection-unknown", {"introspection": ["queue", "colour"]})
offer("introspection-numbers", {"introspection": [1]})
offer("payload-string", {"payload": "yes"})
offer("payload-one", {"payload": 1})
offer("leaks-null", {"leaks": None})
offer("leaks-string", {"leaks": "false"})
offer("order-slack-string", {"order_slack": "0"})
offer("order-slack-true", {"order_slack": True})
offer("order-slack-float", {"order_slack": 0.0})
offer("order-slack-negative", {"order_slack": -1})
offer("order-slack-1", {"order_slack": 1}, 0)
offer("limits-list", {"limits": []})
offer("limits-null", {"limits": None})
offer("limits-max-steps-0", {"limits": {"max_steps": 0}})
offer("limits-max-steps-negative", {"limits": {"max_steps": -5}})
offer("limits-max-steps-string", {"limits": {"max_steps": "100"}})
offer("limits-max-steps-true", {"limits": {"max_steps": True}})
offer("limits-max-steps-float", {"limits": {"max_steps": 10.5}})
offer("limits-max-size-negative", {"limits": {"max_size": -1}})
offer("limits-max-size-string", {"limits": {"max_size": "1k"}})
offer("limits-max-size-null", {"limits": {"max_size": None}})
offer("limits-null-positions-1", {"limits": {"null_positions": 1}})
offer("implementation-none-of-these", {"colour": "blue"}, 0)


def implementation(name: str, value: Any) -> None:
    hello(f"implementation-{name}", lambda said: said.update(implementation=value), 0)


implementation("list", ["hostile"])
implementation("markup", {"name": "[/bold][red]", "version": "[/]"})
implementation("with-lines", {"name": "a\nb\x1b[2J", "version": "\r\n"})
implementation("surrogate", {"name": "\ud800", "version": "\udfff"})
implementation("endless", {"name": "x" * 1_000_000})
implementation("numbers", {"name": 1, "version": [2]})
