"""Apply a change in a forked process, within a limit of time and memory.

`run_in_child` runs work in a fork and returns its result. `apply_change` applies a change there: if only the code of
functions differs, it exchanges that code in the living functions, which takes no time. For anything else, such as a
constant or a class, it imports all our modules again from the changed source.
"""

import gc
import importlib
import importlib.abc
import importlib.machinery
import os
import pickle
import resource
import signal
import sys
from collections.abc import Callable, Iterable
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from entrycache_dev.matrix.generate import Change

MEMORY_BYTES: Final = 3 << 30
"""The memory that a changed reference may take before it fails."""


class TimeOver(BaseException):
    """A signal that the time is over; no code under test catches it."""


class ProcessDied(Exception):
    """An error: the process ended without an answer."""


def _raise_time_over(number: int, frame: Any) -> None:
    raise TimeOver


def run_within(seconds: float, work: Callable[[], Any]) -> Any:
    """Run the work within a time limit and return its result.

    Raises:
        TooLong: it took more than these seconds of the process's own time.
    """
    signal.signal(signal.SIGVTALRM, _raise_time_over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def run_in_child(work: Callable[[], Any], seconds_most: int | None = None) -> Any:
    """Run the work in a fork of this process and return its result.

    Args:
        work: A function without arguments.
        seconds_most: The processor time after which the fork is killed, even if it handles no signal.

    Raises:
        Died: the fork ended without an answer.
    """
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            gc.disable()
            os.close(read_end)
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
            if seconds_most is not None:
                resource.setrlimit(resource.RLIMIT_CPU, (seconds_most, seconds_most))
            with os.fdopen(write_end, "wb") as pipe:
                pickle.dump(work(), pipe)
            status = 0
        finally:
            os._exit(status)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        message = pipe.read()
    _, ended = os.waitpid(pid, 0)
    if ended or not message:
        raise ProcessDied
    return pickle.loads(message)


# --- Applying a change

OURS: Final = "entrycache_"


def apply_change(change: Change, at_import: Iterable[str] = ()) -> bool:
    """Apply the change to the reference of this process; return whether its modules were imported again.

    `at_import` names functions, as `module:name`, that modules call while they are imported.
    """
    swapped = changed_code(change)
    if swapped is not None and not {f"{change.module}:{name}" for name, _, _ in swapped} & set(at_import):
        for _, function, code in swapped:
            function.__code__ = code
        return False
    _import_anew(change)
    return True


@cache
def changed_code(change: Change) -> list[tuple[str, FunctionType, CodeType]] | None:
    """Return the functions whose code the change changes, or None if it changes something else."""
    module = sys.modules[change.module]
    assert module.__file__ is not None
    after = compile(change.whole, module.__file__, "exec", dont_inherit=True)
    pairs = differing_functions(module, after)
    if pairs is None:
        return None
    pairs_of_code = [(name, function, code) for name, function, code in pairs if function is not None]
    return pairs_of_code if len(pairs_of_code) == len(pairs) else None


def differing_functions(module: ModuleType, after: CodeType) -> list[tuple[str, FunctionType | None, CodeType]] | None:
    """Return the outermost functions that differ in other code of a module, or None if more differs.

    A function without a name of its own is None.
    """
    assert module.__file__ is not None
    pairs = _differing(_unchanged(module.__file__), after)
    return None if pairs is None else [(name, _function(module, name), code) for name, code in pairs]


@cache
def _unchanged(path: str) -> CodeType:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - a str is what a module has
        return compile(file.read(), path, "exec", dont_inherit=True)


def _differing(before: CodeType, after: CodeType, outer: str = "") -> list[tuple[str, CodeType]] | None:
    """Return the functions of two modules or classes that differ, or None if their own code differs."""
    if _own(before) != _own(after):
        return None
    pairs: list[tuple[str, CodeType]] = []
    for old, new in zip(_inner(before), _inner(after), strict=True):
        name = f"{outer}{new.co_name}"
        if _text(old) == _text(new):
            continue
        if new.co_flags & 1:  # optimised: a function
            pairs.append((name, new))
        else:
            inside = _differing(old, new, f"{name}.")
            if inside is None:
                return None
            pairs += inside
    return pairs


def _inner(code: CodeType) -> list[CodeType]:
    return [const for const in code.co_consts if isinstance(const, CodeType)]


def _own(code: CodeType) -> Any:
    """Return the code of a module or class with the names of its functions in place of their code."""
    constants = tuple(
        const.co_name if isinstance(const, CodeType) else (type(const), const) for const in code.co_consts
    )
    return code.co_code, constants, code.co_names


def _text(code: CodeType) -> Any:
    return _own(code), tuple(_text(inner) for inner in _inner(code)), code.co_varnames, code.co_freevars


def _function(module: ModuleType, name: str) -> FunctionType | None:
    subject: Any = module
    for part in name.split("."):
        subject = vars(subject).get(part)
        if subject is None:
            return None
    subject = (
        getattr(subject, "fget", None)
        or getattr(subject, "func", None)
        or getattr(subject, "__func__", None)
        or subject
    )
    return subject if isinstance(subject, FunctionType) and subject.__name__ == name.rpartition(".")[2] else None


class _Loader(importlib.machinery.SourceFileLoader):
    """A loader of a module from another text."""

    text = ""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the changed text."""
        return compile(self.text, self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, change: Change, path: str) -> None:
        self._mutant, self._path = change, path

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of the changed module, and of no other."""
        if fullname != self._mutant.module:
            return None
        loader = _Loader(fullname, self._path)
        loader.text = self._mutant.whole
        is_package = self._path.endswith("__init__.py")
        spec = importlib.machinery.ModuleSpec(fullname, loader, origin=self._path, is_package=is_package)
        if is_package:
            spec.submodule_search_locations = [self._path.rpartition("/")[0]]
        spec.has_location = True
        return spec


def _import_anew(change: Change) -> None:
    path = sys.modules[change.module].__file__
    assert path is not None
    for name in [name for name in sys.modules if name.startswith(OURS)]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Finder(change, path))
    importlib.import_module(change.module)
