"""Audits of recorded cache traces: which rules a trace conforms to, which it violates, and where.

A rule exists twice. Its SQL (`rules/<system>`) names violations; the single-pass checker of its system (`checkers`)
decides quickly whether a broker is clean. An audit runs the checker first and the SQL windows only where it must.

- `folders.audit_folder` audits a trace folder, as the command does.
- `audit` (from `tasks`) audits a DataFrame of any Spark session.
- `locations.audit_location` audits a trace that Spark reads where it is stored.

`common` holds the types that all parts share, `systems` one description a system, `replay` a second opinion that
steps the reference over the rows.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from entrycache_spark.tasks import audit

__all__ = ["audit"]


def __getattr__(name: str) -> Any:
    if name == "audit":
        from entrycache_spark.tasks import audit as found  # noqa: PLC0415 - pyarrow is an extra

        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
