"""entrycache_spark: recorded traces of entry caches, and audits of the rules over them.

`audit` takes a DataFrame of whoever's session, see `frames.audit`; `folder.audit` takes a folder, as the command does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from entrycache_spark.tasks import audit

__all__ = ["audit"]


def __getattr__(name: str) -> Any:
    if name == "audit":
        from entrycache_spark.tasks import audit as found  # noqa: PLC0415 - pyarrow is an extra

        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
