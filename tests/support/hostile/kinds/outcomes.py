"""Single outcomes that are wrong."""

from __future__ import annotations

from typing import Any

from .speaker import KINDS, Kind, Speaker, kind


def outcome(name: str, op: str, value: Any, code: int = 3, rule: str = "") -> None:
    """Answer each step of `op` with that value."""

    def misbehave(speaker: Speaker) -> None:
        right = speaker.outcome
        speaker.outcome = lambda step: value if step["op"] == op else right(step)

    assert name not in KINDS, name
    KINDS[name] = Kind(misbehave, code, rule)


for name, said in {
    "null": None, "true": True, "one": 1, "string": "true", "list": [], "list-in": [{"inserted": True}],
    "empty": {}, "of-another-op": {"hit": True}, "unknown-key": {"inserted": True, "colour": "blue"},
    "key-with-lines": {"a\nb\x1b[2J": True}, "one-for-true": {"inserted": 1}, "zero-for-false": {"inserted": 0},
    "string-for-true": {"inserted": "true"}, "float-for-true": {"inserted": 1.0}, "null-for-true": {"inserted": None},
    "list-for-true": {"inserted": [True]}, "object-for-true": {"inserted": {"inserted": True}},
    "nan-for-true": {"inserted": float("nan")}, "infinite": {"inserted": float("-inf")},
    "beyond-integers": {"inserted": 10**30}, "integer-of-4000-digits": {"inserted": 10**4000},
    "long-string": {"inserted": "x" * 1_000_000}, "surrogate": {"inserted": "\ud800"},
    "error-unknown": {"error": "out-of-memory"}, "error-null": {"error": None}, "error-one": {"error": 1},
    "error-list": {"error": ["illegal-argument"]}, "error-false": {"error": False},
    "error-of-another-system": {"error": "illegal-state"}, "error-wrong-case": {"error": "Illegal-Argument"},
    "error-and-outcome": {"error": "illegal-argument", "inserted": False},
    "error-and-unknown-key": {"error": "illegal-argument", "stack": "at"},
}.items():  # fmt: skip
    outcome(f"insert-{name}", "insert", said)
outcome("get-tokens-not-declared", "get", {"hit": True, "tokens": [1]})
outcome("get-tokens-string", "get", {"hit": True, "tokens": "1"})
outcome("get-tokens-null-in-list", "get", {"hit": True, "tokens": [None]})
outcome("get-hits-everything", "get", {"hit": True}, 1)
outcome("get-hits-nothing", "get", {"hit": False}, 1)
outcome("get-refuses", "get", {"error": "illegal-argument", "message": ["free", "form"]}, 1)
outcome("insert-adds-always", "insert", {"inserted": True}, 1)
outcome("insert-refuses-always", "insert", {"error": "illegal-argument"}, 1)


@kind("usage-string-for-number", 3)
def _(speaker: Speaker) -> None:
    speaker.offer["ops"] = ["insert", "usage"]
    right = speaker.outcome
    said = {"entries": "0", "bytes": 0}
    speaker.outcome = lambda step: said if step["op"] == "usage" else right(step)


@kind("usage-beyond-integers", 3)
def _(speaker: Speaker) -> None:
    speaker.offer["ops"] = ["insert", "usage"]
    right = speaker.outcome
    said = {"entries": 0, "bytes": 10**400}
    speaker.outcome = lambda step: said if step["op"] == "usage" else right(step)


@kind("usage-at-the-end-of-integers", 1)
def _(speaker: Speaker) -> None:
    speaker.offer["ops"] = ["insert", "usage"]
    right = speaker.outcome
    said = {"entries": 0, "bytes": 2**64 - 1}
    speaker.outcome = lambda step: said if step["op"] == "usage" else right(step)


@kind("hits-of-half-a-position", 3)
def _(speaker: Speaker) -> None:
    speaker.offer["ops"] = ["insert", "get_range"]
    right = speaker.outcome
    said = {"hits": [[1]]}
    speaker.outcome = lambda step: said if step["op"] == "get_range" else right(step)


@kind("observe-without-what-is-declared", 3)
def _(speaker: Speaker) -> None:
    speaker.offer.update(ops=["insert", "observe"], introspection=["bytes", "queue"])
    right = speaker.outcome
    said = {"bytes": 0}
    speaker.outcome = lambda step: said if step["op"] == "observe" else right(step)


@kind("observe-unknown-key", 3)
def _(speaker: Speaker) -> None:
    speaker.offer.update(ops=["insert", "observe"], introspection=[])
    right = speaker.outcome
    said = {"colour": 0}
    speaker.outcome = lambda step: said if step["op"] == "observe" else right(step)
