"""The differences between an expected and an actual answer, as pieces of their texts.

`mark_answers` compares two JSON values, `mark_words` two texts. Both return the pieces of each side: a text, and
whether the other side lacks it. Joined, the pieces of a side are its whole text. Numbers are compared as Python's
integers, because a browser would round those above 2**53.
"""

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any, Final, TypeAlias

from entrycache_protocol import codec

Pieces: TypeAlias = list[tuple[str, bool]]
"""The pieces of a text, each with whether it differs."""

ELEMENTS_MOST: Final = 400
"""The number of elements of two lists up to which equal runs are searched for."""


def mark_answers(expected: Any, got: Any) -> tuple[Pieces, Pieces]:
    """Return the pieces of two JSON values, in which the differing members and elements are marked."""
    return _joined(_pieces(expected, got)), _joined(_pieces(got, expected))


def mark_words(expected: str, got: str) -> tuple[Pieces, Pieces]:
    """Return the pieces of two texts, in which the differing words are marked."""
    words = [text.split(" ") for text in (expected, got)]
    matcher = SequenceMatcher(a=words[0], b=words[1], autojunk=False)
    equal: list[set[int]] = [set(), set()]
    for block in matcher.get_matching_blocks():
        equal[0] |= set(range(block.a, block.a + block.size))
        equal[1] |= set(range(block.b, block.b + block.size))
    return _joined_words(words[0], equal[0]), _joined_words(words[1], equal[1])


def _joined_words(words: list[str], equal: set[int]) -> Pieces:
    """Join words again; a space is marked if both its neighbours are."""
    pieces: Pieces = []
    for at, word in enumerate(words):
        if at:
            pieces.append((" ", at not in equal and at - 1 not in equal))
        pieces.append((word, at not in equal))
    return _joined(pieces)


def _pieces(own: Any, other: Any) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of one value beside another."""
    if type(own) is dict and type(other) is dict and own and other:
        yield from _bracketed("{", (_member(name, own, other) for name in own), "}")
    elif type(own) is list and type(other) is list and own and other:
        yield from _bracketed("[", _elements(own, other), "]")
    else:
        text = codec.format_json(own)
        yield text, text != codec.format_json(other)


def _bracketed(begin: str, parts: Iterable[Iterable[tuple[str, bool]]], end: str) -> Iterator[tuple[str, bool]]:
    yield begin, False
    for at, part in enumerate(parts):
        if at:
            yield ", ", False
        yield from part
    yield end, False


def _member(name: str, own: dict[str, Any], other: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    key = f"{codec.format_json(name)}: "
    if name in other:
        yield key, False
        yield from _pieces(own[name], other[name])
    else:
        yield key + codec.format_json(own[name]), True


def _elements(own: list[Any], other: list[Any]) -> Iterator[Iterable[tuple[str, bool]]]:
    """Yield the pieces of each element; runs of equal elements are found first, as in a comparison of lines.

    Long lists are compared place by place, because the search for equal runs takes quadratic time.
    """
    if len(own) + len(other) > ELEMENTS_MOST:
        yield from (
            _pieces(one, other[at]) if at < len(other) else [(codec.format_json(one), True)]
            for at, one in enumerate(own)
        )
        return
    texts = [[codec.format_json(each) for each in side] for side in (own, other)]
    for tag, start, end, there, there_end in SequenceMatcher(a=texts[0], b=texts[1], autojunk=False).get_opcodes():
        paired = tag == "replace" and end - start == there_end - there
        for at in range(start, end):
            if paired:
                yield _pieces(own[at], other[there + at - start])
            else:
                yield [(texts[0][at], tag != "equal")]


def _joined(pieces: Iterable[tuple[str, bool]]) -> Pieces:
    """Join neighbours that are both marked or both not."""
    return [("".join(text for text, _ in group), differs) for differs, group in groupby(pieces, key=lambda one: one[1])]
