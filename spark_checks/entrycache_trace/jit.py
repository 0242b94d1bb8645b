"""Kernels: plain Python over arrays, compiled by numba where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from errno import EACCES, EPERM, EROFS
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final, TypeVar, cast

import numpy.typing as npt

from entrycache_protocol.errors import missing_extra

F = TypeVar("F", bound=Callable[..., Any])

Array = npt.NDArray[Any]

try:
    import numba
except ImportError:
    numba = None  # type: ignore[assignment] # of a module


def _can_cache() -> bool:
    """Whether what is compiled may be kept in a file: not where there is no room for one."""
    try:
        with TemporaryFile(dir=Path(__file__).parent) as file:
            file.write(b"x")
    except OSError as error:
        return error.errno in {EACCES, EPERM, EROFS}  # numba finds another folder
    return True


CAN_CACHE: Final = _can_cache()


def jit(function: F) -> F:
    """The function compiled at its first call, and kept in a file where that can be; itself where numba is missing."""
    if numba is None:
        return function
    try:
        made = numba.njit(cache=CAN_CACHE)(function)
    except RuntimeError:  # no folder to keep it in
        return cast(F, numba.njit(function))
    with suppress(AttributeError):  # what is kept is of no use once a function that it calls is another one
        cast(Any, made)._cache._cache_file._source_stamp = _package_hash(_package_folder(function))
    return cast(F, made)


def _package_folder(function: Callable[..., Any]) -> Path:
    """The folder of the package that a function belongs to."""
    return Path(function.__code__.co_filename).parents[max(function.__module__.count(".") - 1, 0)]


@cache
def _package_hash(folder: Path) -> bytes:
    """What the files of a package hold; numba itself looks at one file alone."""
    return sha256(b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))).digest()


def has_numba() -> bool:
    """Whether numba is installed, and not told to leave functions as they are (`NUMBA_DISABLE_JIT`)."""
    return numba is not None and not cast(Any, numba.config).DISABLE_JIT  # set while numba is loaded: no type tells it


def require_numba(what: str, extra: str) -> None:
    """Refuse to go through millions of events in plain Python.

    Raises:
        MissingPrerequisite: numba is not installed.
    """
    if numba is None:
        raise missing_extra(what, "numba", extra)
