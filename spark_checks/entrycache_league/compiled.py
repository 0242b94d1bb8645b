"""Kernels: plain Python over arrays, compiled by numba where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy.typing as npt

from entrycache_protocol.errors import MissingPrerequisite

F = TypeVar("F", bound=Callable[..., Any])

Array = npt.NDArray[Any]

try:
    import numba
except ImportError:
    numba = None  # type: ignore[assignment] # of a module


def compiled(function: F) -> F:
    """The function compiled at its first call, and kept beside its file; itself where numba is missing."""
    return function if numba is None else cast(F, numba.njit(cache=True)(function))


def require_numba() -> None:
    """Refuse to replay millions of requests in plain Python.

    Raises:
        MissingPrerequisite: numba is not installed.
    """
    if numba is None:
        raise MissingPrerequisite("league needs the Python package numba: pip install 'entrycache[league]'")
