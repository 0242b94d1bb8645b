"""Results of `conform` as a test makes them up: their texts may be anything."""

from __future__ import annotations

from typing import Any


def failure(rule: str, text: str, level: str = "queue", case: str = "a.json") -> dict[str, Any]:
    """A failure in which every text from elsewhere is `text`."""
    lanes = [{"name": text, "boxes": [[text, "entry"], ["dead", "dead"]]}]
    table = {
        "title": f"{rule} is broken at step 1",
        "columns": ["step", "op", "expected", "got", "rule", "queue before", "queue after"],
        "rows": [[str(at), f"expire  cache={text}", "right", text, rule, "(empty)", text] for at in range(2)],
        "config": f"ttl_nanos={text}",
        "bad": 1,
        "wrong": 3,
        "before": lanes,
        "after": [],
    }
    return {
        "rule": rule,
        "rules": [rule],
        "case": case,
        "step": 1,
        "expected": {"entries": 0},
        "got": {"entries": text},
        "steps": 2,
        "level": level,
        "table": table,
        "replay": f"entrycache replay {case} {text}",
    }


def result(text: str, failures: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A run with these failures, in which three rules fired."""
    broken = {rule for one in failures for rule in one["rules"]}
    rules = {
        rule: {"fired": 9, "verdict": "violates" if rule in broken else "conforms"}
        for rule in sorted({"R-EXPIRE-1", "R-STATE-1", *broken})
    }
    rules["R-EVICT-2"] = {"fired": 1, "verdict": "nothing-checked"}
    verdict = "violates" if failures else "conforms"
    level = {"examples": 3, "steps": 9, "verdict": verdict, "missing": [], "rules": rules}
    levels = {name: dict(level) for name in dict.fromkeys(one["level"] for one in failures)} or {"queue": level}
    report = {"schema": 1, "subject": text, "system": "pulsar-pip430", "verdict": verdict, "levels": levels}
    about = {"seed": 7, "profile": "dev", "engine": "search", "versions": {"subject": text}}
    return {**report, "rules": {}, "failures": failures, "skipped": [], **about, **more}
