"""K-SIZE-1 for texts of any length: a text is how many letters it has of each of the four kinds that UTF-8 knows.

A letter of one kind stands for a run of them, each any of its kind: so many bytes and units has each of a run. That a
text of Python is counted so is asked of real texts in `tests/evidence/test_ties.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import z3

from entrycache_evidence.induction.lemma import Lemma, Obligation
from entrycache_evidence.induction.on_terms import held_to, on_terms
from entrycache_evidence.induction.symbolic import Term, paths
from entrycache_evidence.kafka_streams.induction.held import fault
from entrycache_faults.model import Model, Place
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.state import State, Step
from entrycache_reference.rules import Rule


class Kind(NamedTuple):
    """Letters that UTF-8 writes alike: from which number on, up to which, and with how many bytes."""

    first: int
    last: int
    bytes: int

    @property
    def units(self) -> int:
        """In UTF-16."""
        return 2 if self.first >= FIRST_OF_PAIRS else 1


FIRST_OF_PAIRS: Final = 0x10000
KINDS: Final = (
    Kind(0, 0x7F, 1),
    Kind(0x80, 0x7FF, 2),
    Kind(0x800, 0xFFFF, 3),
    Kind(FIRST_OF_PAIRS, 0x10FFFF, 4),
)


class _Bytes(NamedTuple):
    length: Any


class Letter(NamedTuple):
    """Any letter of a kind, and how many such follow one another."""

    code: Any
    times: Any


_run: list[Any] = [1]
"""How often the letter counts that is looked at now."""


class Text:
    """A text of any length."""

    def __init__(self, name: str) -> None:
        self.letters = tuple(
            Letter(z3.Int(f"{name}.letter{kind.bytes}"), z3.Int(f"{name}.times{kind.bytes}")) for kind in KINDS
        )

    @property
    def sane(self) -> Any:
        """What holds of every text."""
        said = [letter.times >= 0 for letter in self.letters]
        for kind, letter in zip(KINDS, self.letters, strict=True):
            said += [letter.code >= kind.first, letter.code <= kind.last]
        return z3.And(said)

    def encode(self, encoding: str, errors: str) -> _Bytes:
        """Its bytes, of which only the number is known."""
        of_each = {"utf-8": [kind.bytes for kind in KINDS], "utf-16-le": [2 * kind.units for kind in KINDS]}[encoding]
        assert errors == "surrogatepass"
        return _Bytes(Term(sum(each * letter.times for each, letter in zip(of_each, self.letters, strict=True))))

    def __bool__(self) -> bool:
        return bool(Term(z3.Or([letter.times > 0 for letter in self.letters])))

    def __iter__(self) -> Iterator[Letter]:
        for letter in self.letters:
            _run[0] = Term(letter.times)
            yield letter
        _run[0] = 1


def _length(value: Any) -> Any:
    return value.length if isinstance(value, _Bytes) else len(value)


def _sum(values: Iterable[Any]) -> Any:
    """The sum; what is made of a letter counts as often as that stands there."""
    total: Any = 0
    for value in values:
        total = _run[0] * value + total
    return total


def _code(letter: Letter) -> Any:
    return Term(letter.code)


COUNTED: Final[dict[Place, object]] = {"size.len": _length}
IN_LAWS: Final[dict[Place, object]] = {"laws.writes.len": _length, "laws.writes.sum": _sum, "laws.writes.ord": _code}
KEY, VALUE, TOPIC, *HEADERS = (Text(name) for name in ("key", "value", "topic", "name", "content", "names", "contents"))
_ALL: Final = (KEY, VALUE, TOPIC, *HEADERS)


def _counted(table: Any, model: Model) -> Iterator[Obligation]:
    """The law after a write, of a value or a tombstone, with two headers, one or none."""
    asked = on_terms(model, COUNTED)
    of_norm = on_terms(Model(model.package), IN_LAWS)
    law = next(law for law in of_norm["laws.LAWS"] if law.rule is Rule.K_SIZE_1)
    given = z3.And([text.sane for text in _ALL])
    pairs = tuple(zip(HEADERS[::2], HEADERS[1::2], strict=True))
    for value in (VALUE, None):
        for number in range(len(pairs) + 1):
            headers: Any = pairs[:number]
            event = ops.Put("a", KEY, value, topic=TOPIC, headers=headers)  # type: ignore[arg-type]

            def played(event: ops.Put = event) -> Step:
                _run[0] = 1
                done: Step = asked.step(PRE, event, PLENTY)
                return done

            def judged(step: Step, event: ops.Put = event) -> tuple[bool, bool]:
                _run[0] = 1
                is_about = bool(law.guard(PLENTY, PRE, event, step))
                return is_about, not is_about or bool(law.holds(PLENTY, PRE, event, step))

            name = f"{'a tombstone' if value is None else 'a value'}, {number} headers"
            yield from held_to(name, given, paths(played, given), judged)


PLENTY: Final = Config()
PRE: Final = State(Term(z3.Int("limit")))  # type: ignore[arg-type]

LEMMAS: Final = (
    Lemma(
        Rule.K_SIZE_1,
        "the law itself, after a put into an empty cache that keeps it; key, value, topic and headers of any length, "
        "up to two headers, the second of which may stand for any others",
        _counted,
        fault(Rule.K_SIZE_1),
    ),
)
"""The lemma of this module."""
