"""Comparisons of the answers of two backends."""

from __future__ import annotations

from entrycache_spark.common.results import AuditResult, Violation


def by_broker(violations: tuple[Violation, ...]) -> dict[str, set[tuple[str, int, int | None]]]:
    violations_by_broker: dict[str, set[tuple[str, int, int | None]]] = {}
    for row in violations:
        violations_by_broker.setdefault(row.broker, set()).add((row.rule, row.seq, row.life))
    return violations_by_broker


def differences(result: AuditResult, wanted: AuditResult) -> dict[str, list[object]]:
    """Return the brokers on which two backends disagree, with both answers."""
    observed, expected = by_broker(result.violations), by_broker(wanted.violations)
    names = sorted(observed.keys() | expected.keys())
    apart = {name: observed.get(name, set()) ^ expected.get(name, set()) for name in names}
    return {name: sorted(what, key=str) for name, what in apart.items() if what}
