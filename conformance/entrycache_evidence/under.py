"""The model that those checks play whose arguments are not ours to add to: contracts, and the tests of single rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from entrycache_faults.model import Model

_models: list[Model] = []


@contextmanager
def under(model: Model) -> Iterator[None]:
    """Such checks play this model until the end of the block."""
    _models.append(model)
    try:
        yield
    finally:
        _models.remove(model)


def asked() -> Model | None:
    """The model of this moment; None: the reference itself."""
    return _models[-1] if _models else None
