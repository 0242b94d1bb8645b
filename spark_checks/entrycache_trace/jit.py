"""Compile loops over arrays with numba where it is installed, and run them as plain Python elsewhere.

The checkers of audits and the policies of the comparison are plain functions over numpy arrays. `jit` compiles such a
function at its first call. Numba keeps the machine code in a cache beside the package, or in `NUMBA_CACHE_DIR`. The
stamp of that cache covers all files of the package, because a compiled function may call functions of other files.
`has_numba` and `require_numba` tell callers whether compiled code is available.
"""

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
    """Return whether compiled code can be kept in a file, which needs room for one."""
    try:
        with TemporaryFile(dir=Path(__file__).parent) as file:
            file.write(b"x")
    except OSError as error:
        return error.errno in {EACCES, EPERM, EROFS}  # numba finds another folder
    return True


CAN_CACHE: Final = _can_cache()


def jit(function: F) -> F:
    """Compile a function at its first call and keep the code in a file if possible.

    Without numba return it unchanged.
    """
    if numba is None:
        return function
    try:
        compiled_function = numba.njit(cache=CAN_CACHE)(function)
    except RuntimeError:  # numba has no folder for its cache
        return cast(F, numba.njit(function))
    with suppress(AttributeError, OSError):
        _key_by_source(cast(Any, compiled_function)._cache, function)
    return cast(F, compiled_function)


def _key_by_source(cached: Any, function: Callable[..., Any]) -> None:
    """Let cached code depend on the files of its package: their text, not their age, and in a named folder no path.

    Cached code is stale once a function that it calls has changed. `NUMBA_CACHE_DIR` names a folder for all checkouts.
    """
    cached._cache_file._source_stamp = _package_hash(_package_folder(function))
    if cast(Any, numba).config.CACHE_DIR:
        folder = Path(cast(Any, numba).config.CACHE_DIR) / function.__module__
        folder.mkdir(parents=True, exist_ok=True)
        cached._cache_path = cached._cache_file._cache_path = str(folder)
        cached._cache_file._index_path = str(folder / cached._cache_file._index_name)


def _package_folder(function: Callable[..., Any]) -> Path:
    """Return the folder of the package that a function belongs to; of a nested one, that below the outermost."""
    return Path(function.__code__.co_filename).parents[max(function.__module__.count(".") - 2, 0)]


@cache
def _package_hash(folder: Path) -> bytes:
    """Return a hash of all files of a package; numba itself looks at one file only."""
    return sha256(b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))).digest()


def has_numba() -> bool:
    """Return whether numba is installed and compiles functions (`NUMBA_DISABLE_JIT` is not set)."""
    return numba is not None and not cast(Any, numba.config).DISABLE_JIT  # set while numba is loaded, so it has no type


def require_numba(what: str, extra: str) -> None:
    """Refuse to process millions of events in plain Python.

    Raises:
        MissingPrerequisite: numba is not installed.
    """
    if numba is None:
        raise missing_extra(what, "numba", extra)
