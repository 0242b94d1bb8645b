"""JSON that every reader takes for the same: each key once, numbers that are numbers, and nothing too deep."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from entrycache_protocol.codec import HALVES, INTEGERS
from entrycache_protocol.errors import UsageError
from entrycache_protocol.shown import cut, shown

DEPTH_MOST: Final = 100
"""Arrays and objects within one another; a case of listeners within listeners has some twenty."""

_MAY_HAVE_HALVES: Final = re.compile(r"(?i)\\ud[89a-f]|[\ud800-\udfff]")


class Disputed(ValueError):
    """Something that one reader of JSON takes for JSON and another does not, or takes for something else."""


def no_number(name: str) -> NoReturn:
    """Refuse NaN and Infinity."""
    raise Disputed(f"{name} is not JSON")


def each_once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these members."""
    found = dict(members)
    if len(found) != len(members):
        met: set[str] = set()
        twice = next(key for key, _ in members if key in met or met.add(key))  # type: ignore[func-returns-value]
        raise Disputed(f"the key {cut(ascii(twice), 60)} twice in one object")
    return found


def _integer(digits: str) -> int:
    if len(digits) > 20 or (number := int(digits)) not in INTEGERS:
        raise Disputed(f"the number {cut(digits, 30)} has more than 64 bits")
    return number


def _fraction(digits: str) -> float:
    number = float(digits)
    if number - number != 0:
        raise Disputed(f"the number {cut(digits, 30)} is too large")
    return number


_JSON: Final = json.JSONDecoder(
    parse_constant=no_number, object_pairs_hook=each_once, parse_int=_integer, parse_float=_fraction
)


def parse(text: str, may_have_halves: bool = False) -> Any:
    """The JSON value in a text; `may_have_halves`: its strings are what subjects said, and are only shown.

    Raises:
        ValueError: it is none, or one that not every reader takes for the same; the message says why.
    """
    try:
        value = _JSON.decode(text)
    except RecursionError:
        value = None
        deep = True
    else:
        deep = is_deeper(value, DEPTH_MOST)
    if deep:
        raise Disputed(f"arrays and objects stand more than {DEPTH_MOST} deep within one another")
    if not may_have_halves and _MAY_HAVE_HALVES.search(text) and _has_halves(value):
        raise Disputed("a string holds half a pair of surrogates, which UTF-8 does not have")
    return value


def _has_halves(value: Any) -> bool:
    """Whether a string, or a key, is none that UTF-8 has too."""
    if type(value) is str:
        return HALVES.search(value) is not None
    if type(value) is dict:
        return any(_has_halves(part) for member in value.items() for part in member)
    return type(value) is list and any(map(_has_halves, value))


def json_of(text: str, where: str) -> Any:
    """The JSON value in a text from a file.

    Raises:
        UsageError: see `parse`; the line begins with `where`.
    """
    try:
        return parse(text)
    except ValueError as error:
        raise UsageError(f"{where} is not JSON: {error}") from None


def same_json(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: to Python `true` and `1.0` are 1, to most other readers they are not."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def is_deeper(value: Any, most: int) -> bool:
    """Whether arrays and objects stand more than so many deep within one another."""
    level = [value]
    for _ in range(most + 1):
        level = [part for each in level if type(each) in {dict, list} for part in _parts(each)]
        if not level:
            return False
    return True


def _parts(value: Any) -> Any:
    return value.values() if type(value) is dict else value


def only_json(value: Any, where: str) -> Any:
    """A value that another format gave, if JSON can hold it too.

    Raises:
        UsageError: it is too deep, or holds a date, a number that is none, or one of more than 64 bits.
    """
    if is_deeper(value, DEPTH_MOST):
        raise UsageError(f"{where}: arrays and tables stand more than {DEPTH_MOST} deep within one another")
    level = [value]
    while level:
        for each in level:
            kind = type(each)
            odd = each not in INTEGERS if kind is int else each - each != 0 if kind is float else False
            if odd or kind not in {dict, list, str, bool, int, float}:
                raise UsageError(f"{where}: {shown(each)} is no value that JSON has; expected one, or JSON text")
        level = [part for each in level if type(each) in {dict, list} for part in _parts(each)]
    return value
