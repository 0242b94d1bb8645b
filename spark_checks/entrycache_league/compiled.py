"""Kernels: plain Python over arrays, compiled by numba where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from errno import EACCES, EPERM, EROFS
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final, TypeVar, cast

import numpy.typing as npt

from entrycache_protocol.extras import missing

F = TypeVar("F", bound=Callable[..., Any])

Array = npt.NDArray[Any]

try:
    import numba
except ImportError:
    numba = None  # type: ignore[assignment] # of a module


def _kept() -> bool:
    """Whether what is compiled may be kept in a file: not where there is no room for one."""
    try:
        with TemporaryFile(dir=Path(__file__).parent) as file:
            file.write(b"x")
    except OSError as error:
        return error.errno in {EACCES, EPERM, EROFS}  # numba finds another folder
    return True


KEPT: Final = _kept()


def compiled(function: F) -> F:
    """The function compiled at its first call, and kept in a file where that can be; itself where numba is missing."""
    if numba is None:
        return function
    try:
        return cast(F, numba.njit(cache=KEPT)(function))
    except RuntimeError:  # no folder to keep it in
        return cast(F, numba.njit(function))


def require_numba() -> None:
    """Refuse to replay millions of requests in plain Python.

    Raises:
        MissingPrerequisite: numba is not installed.
    """
    if numba is None:
        raise missing("league", "numba", "league")
