"""Bring a loop to any turn: whatever earlier turns may have left in its variables becomes any value.

A loop on terms is run for few turns. What it would count over many turns is not among the terms, so a bound such as
"at most 50 turns" would never be reached. `forget_counts` replaces every count among the variables of the loop
by any integer, in the middle of the run; `AnyTuple` and `AnyList` are sequences of any length, of which the run knows a
few elements. `any_length` takes the place of `len`. Anything else that a loop asks of them is `Unknown`: nothing is
proved of such a loop.

A `Fold` is a loop that treats each element of a sequence once, in order: it calls a function for each, or makes an
answer of all. A stand-in of that function records the elements of an `AnyTuple`. Between its first element and the
second there may be any number of others, so a loop that counts its turns, or walks a part of the sequence, is refuted.
"""

import ctypes
import dis
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from types import FrameType
from typing import Any, Final, NamedTuple, TypeVar, cast

import z3

from entrycache_evidence.induction.lemma import Lemma, LemmaFault, Obligation, build_term_model
from entrycache_evidence.induction.symbolic import Term, paths
from entrycache_faults.model import Model, Place
from entrycache_reference.rules import Rule

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
    Nothing is known of a text, a fraction or a collection that the lemma does not name.
    """
    code, names = frame.f_code, frame.f_locals
    own = {*code.co_varnames[code.co_argcount :], *code.co_cellvars} & names.keys()
    for name in sorted(own - known):
        value = names[name]
        if isinstance(value, bool):
            names[name] = Term(z3.Bool(f"{name} at any turn"))
        elif isinstance(value, int):
            names[name] = Term(z3.Int(f"{name} at any turn"))
        elif isinstance(value, float | str | bytes | list | dict | set | Iterator):
            raise Unknown(f"nothing is known of {name} after any number of turns")
    names.update(others)
    ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))


# --- Folds: loops that treat each element of a sequence once, in order

EARLIER: Final = z3.Int("elements before these")


class Visit(NamedTuple):
    """The part of a loop that treats an element: which element it treats, and the answer to go on with."""

    element: Callable[..., object]
    answer: Callable[..., object]


class AnyMapping(dict[Any, _T]):
    """A mapping of any size of which a few items are known, for a loop with the variables `known`."""

    known = ""

    def items(self) -> Any:
        """Return the items, as a sequence of any length."""
        return any_tuple(super().items(), self.known)

    def __getitem__(self, key: Any) -> _T:
        if isinstance(key, slice):
            raise Unknown("a loop takes a part of its sequence")
        return super().__getitem__(key)

    def __iter__(self) -> Any:
        if not _is_walked_by_for(sys._getframe(1)):
            raise Unknown("a loop walks a part of a mapping, or counts while it walks")
        return any_tuple(super().keys(), self.known)._turns()


def any_mapping(items: Mapping[Any, _T], known: str) -> AnyMapping[_T]:
    """Return a mapping of any size with these items, for a loop with these variables."""
    kind = type("AnyMapping", (AnyMapping,), {"known": known})
    return cast("AnyMapping[_T]", kind(items))


class Fold(NamedTuple):
    """A loop, the functions that treat an element, a run over an `AnyTuple`, and what it has to treat or to answer.

    `stubs` replace what the loop calls beside, and `ends` returns what the answer has to add to what was treated.
    """

    rule: Rule
    claim: str
    loop: str
    visits: Mapping[str, Visit]
    run: Callable[[Model], Iterable[object]]
    wanted: tuple[object, ...]
    fault: LemmaFault
    stubs: Mapping[Place, object] = {}
    ends: Callable[[Any], Iterable[object]] = lambda answer: ()

    def lemma(self) -> Lemma:
        """Build the lemma: on every path, exactly these elements are treated, in this order."""
        claim = f"{self.claim}: any number of them, each once, in order"
        return Lemma(self.rule, claim, lambda table, model: _obligations(self, model), self.fault, loop=self.loop)


def _obligations(fold: Fold, model: Model) -> Iterator[Obligation]:
    ways = paths(lambda: _treated(fold, model) == fold.wanted)
    said = [z3.Implies(condition, z3.BoolVal(holds)) for condition, holds in ways]
    yield Obligation(fold.loop, EARLIER >= 0, z3.And(said))


def _treated(fold: Fold, model: Model) -> tuple[object, ...] | None:
    """Return what the loop treats, or its answer if no function is named; None if it counts or walks a part."""
    treated: list[object] = []
    module = fold.loop.rpartition(".")[0]
    replaced: dict[Place, object] = {place: _recorder(visit, treated) for place, visit in fold.visits.items()}
    counted: dict[Place, object] = {
        **counting_replaced(module),
        f"{module}.len": lambda held: Term(EARLIER) + len(held),
    }
    try:
        answer = fold.run(build_term_model(model, {**counted, **fold.stubs, **replaced}))
    except Unknown:
        return None
    return (*treated, *fold.ends(answer)) if fold.visits else tuple(answer)


def _recorder(visit: Visit, treated: list[object]) -> Callable[..., object]:
    def record(*arguments: Any) -> object:
        treated.append(visit.element(*arguments))
        return visit.answer(*arguments)

    return record
