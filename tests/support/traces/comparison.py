"""Comparisons of the answers of two engines."""

from __future__ import annotations

from entrycache_spark.common.results import AuditResult, Violation


def by_broker(violations: tuple[Violation, ...]) -> dict[str, set[tuple[str, int, int | None]]]:
    found: dict[str, set[tuple[str, int, int | None]]] = {}
    for row in violations:
        found.setdefault(row.broker, set()).add((row.rule, row.seq, row.life))
    return found


def differences(result: AuditResult, wanted: AuditResult) -> dict[str, list[object]]:
    """Return the brokers about which two engines disagree, and both answers."""
    found, sought = by_broker(result.violations), by_broker(wanted.violations)
    names = sorted(found.keys() | sought.keys())
    apart = {name: found.get(name, set()) ^ sought.get(name, set()) for name in names}
    return {name: sorted(what, key=str) for name, what in apart.items() if what}
