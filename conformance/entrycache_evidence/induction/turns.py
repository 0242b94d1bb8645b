"""Bring a loop to any turn: whatever earlier turns may have left in its variables becomes any value.

A loop on terms is run for few turns. What it would count over many turns is not among the terms, so a bound such as
"at most 50 turns" would never be reached. `forget_counts` replaces every count among the variables of the loop
by any integer, in the middle of the run; `AnyTuple` and `AnyList` are sequences of any length, of which the run knows a
few elements. `any_length` takes the place of `len`. Anything else that a loop asks of them is `Unknown`: nothing is
proved of such a loop.
"""

import ctypes
import dis
import sys
from collections.abc import Iterable, Iterator, Sized
from types import FrameType
from typing import Any, Final, TypeVar, cast

import z3

from entrycache_evidence.induction.symbolic import Term
from entrycache_faults.model import Place

_T = TypeVar("_T")

EARLIER_TURNS: Final = z3.Int("turns before these")
"""The number of turns before those that are run."""


class Unknown(Exception):
    """A loop asks a question that has no answer after any number of turns."""


def any_number(name: str) -> Any:
    """Return the length of a sequence of any length."""
    return Term(z3.Int(name))


class AnyTuple(tuple[_T, ...]):
    """A tuple of any length of which a few elements are known; only a plain `for` or a copy may walk it.

    Between the first known element and the second there may be any number of others, so the loop that walks it forgets
    its counts there. A subclass names the variables of the loop that the lemma itself brings to any turn in `known`.
    """

    length: Any = any_number("elements of the sequence")
    known: frozenset[str] = frozenset()

    def __init__(self, elements: Iterable[_T] = ()) -> None:
        """Take the elements. A class with an `__init__` of its own is data to a `Model`, which walks other tuples."""

    def __iter__(self) -> Iterator[_T]:
        if not _is_walked_by_for(sys._getframe(1)):
            raise Unknown("a loop walks a part of its sequence, or counts while it walks")
        return self._turns()

    def _turns(self) -> Iterator[_T]:
        for at, one in enumerate(super().__iter__()):
            if at == 1 and self.known:
                forget_counts(sys._getframe(1), self.known)
            yield one

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            raise Unknown("a loop takes a part of its sequence")
        return super().__getitem__(at)


def any_tuple(elements: Iterable[_T], known: str) -> AnyTuple[_T]:
    """Return a tuple of any length with these elements, for a loop with these variables."""
    kind = type("AnyTuple", (AnyTuple,), {"known": frozenset(known.split())})
    return cast("AnyTuple[_T]", kind(elements))


def _is_walked_by_for(frame: FrameType) -> bool:
    """Return whether the present instruction of a frame begins a `for`; a call of `islice` or `zip` is none."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] == "GET_ITER"


class AnyList(list[_T]):
    """A list to which any number of earlier turns has appended; a turn may append to it, and look at its last."""

    length: Any = Term(EARLIER_TURNS)

    def known(self) -> tuple[_T, ...]:
        """Return the elements that are known: those of the turns that are run."""
        return tuple(super().__getitem__(slice(None)))

    def __iter__(self) -> Iterator[_T]:
        raise Unknown("a turn looks at what all turns before it have left")

    def __getitem__(self, at: Any) -> Any:
        if at != -1:
            raise Unknown("a turn looks at what a certain turn has left")
        return super().__getitem__(at)


def any_length(held: Sized) -> Any:
    """Return the length of a sequence; one of any length has any."""
    if isinstance(held, AnyTuple):
        return held.length
    if isinstance(held, AnyList):
        return held.length + len(held.known())
    return len(held)


def _refuse(name: str) -> Any:
    def ask(*arguments: Any) -> Any:
        raise Unknown(f"a loop calls {name}, which counts from its first turn")

    return ask


def counting_replaced(module: str) -> dict[Place, object]:
    """Return the replacements for the built-in functions of a module that count: nothing is known of their turns."""
    return {
        f"{module}.len": any_length,
        **{f"{module}.{name}": _refuse(name) for name in ("range", "enumerate", "zip")},
    }


def forget_counts(frame: FrameType, known: frozenset[str], **others: Any) -> None:
    """Replace what a loop may count by any value: the integers and booleans among the variables of its function.

    `known` names the variables that the lemma itself brings to any turn, `others` their values where it replaces them.
    Nothing is known of a collection that the lemma does not name.
    """
    names = frame.f_locals
    for name in sorted(names.keys() - known - {*frame.f_code.co_varnames[: frame.f_code.co_argcount]}):
        value = names[name]
        if isinstance(value, bool):
            names[name] = Term(z3.Bool(f"{name} at any turn"))
        elif isinstance(value, int):
            names[name] = Term(z3.Int(f"{name} at any turn"))
        elif isinstance(value, list | dict | set | Iterator):
            raise Unknown(f"nothing is known of {name} after any number of turns")
    names.update(others)
    ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
