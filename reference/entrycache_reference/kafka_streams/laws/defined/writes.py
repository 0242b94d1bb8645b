"""Lookups, writes, and the overflow that follows: who is evicted is told by sums from the eldest on."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from entrycache_reference.kafka_streams.config import Total
from entrycache_reference.kafka_streams.laws.defined.handing import hand_over
from entrycache_reference.kafka_streams.laws.defined.picture import Picture
from entrycache_reference.kafka_streams.outcomes import Context, ErrorKind
from entrycache_reference.kafka_streams.state import Node
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


def text_bytes(text: str) -> int:
    """The bytes of a text in UTF-8, letter by letter: 1, 2, 3, and 4 beyond the first plane."""
    return sum([1 + (ord(one) > 0x7F) + (ord(one) > 0x7FF) + (ord(one) > 0xFFFF) for one in text])


def code_units(text: str) -> int:
    """The code units of a text in UTF-16: two for a letter beyond the first plane."""
    return sum([1 + (ord(one) > 0xFFFF) for one in text])


def node_size(key: str, value: str | None, topic: str, headers: Any) -> int:
    """45 bytes for every entry, and what it carries."""
    of_headers = sum([code_units(name) + text_bytes(content) for name, content in headers])
    return 45 + text_bytes(key) + text_bytes(value or "") + code_units(topic) + of_headers


def node_of(write: Any, number: int) -> Node:
    """The entry that a write of a namespace makes."""
    given = [None if one is ABSENT else one for one in (write.timestamp, write.offset, write.partition)]
    size = node_size(write.key, write.value, write.topic, write.headers)
    return Node(write.value, write.dirty, size, Context(*given), number)


def look(picture: Picture, ns: str, key: str) -> Node | None:
    """A lookup in a namespace: it counts, and what is found is the most recent."""
    own = picture.open(ns)
    node = own.nodes.get(key)
    own.hits += node is not None
    own.misses += node is None
    if node is not None:
        own.use(key)
    picture.tell(Rule.K_GET_1, "MISS" if node is None else "HIT", ns, key, node, "GET")
    return node


def hides(picture: Picture, ns: str, key: str, is_dirty: bool) -> bool:
    """Whether a write would hide a dirty one behind a clean one."""
    return not is_dirty and key in picture.open(ns).dirty


def write(picture: Picture, ns: str, key: str, node: Node) -> None:
    """One entry is written, and what that changes in its namespace is added to the running total."""
    own = picture.open(ns)
    former = own.nodes.get(key)
    own.overwrites += former is not None
    own.nodes[key] = node
    own.use(key)
    if node.is_dirty:
        own.dirty = [other for other in own.dirty if other != key] + [key]
    more = node.size_bytes - (0 if former is None else former.size_bytes)
    picture.total += more
    picture.writes += 1
    book(picture, more)
    picture.tell(Rule.K_PUT_1, "PUT", ns, key, node)


def book(picture: Picture, more: int) -> None:
    """Bytes that a call reports."""
    if picture.config.variants.total is Total.RUNNING:
        picture.running += more


def put(picture: Picture, ns: str, key: str, node: Node) -> None:
    """A write that counts at its beginning, with its overflow."""
    picture.puts += 1
    if hides(picture, ns, key, node.is_dirty):
        picture.error = ErrorKind.ILLEGAL_STATE
        return
    write(picture, ns, key, node)
    overflow(picture, ns)


def overflow(picture: Picture, ns: str) -> None:
    """The namespace pays while the total is above the limit and it holds entries.

    Clean entries at the eldest end leave together, as many as their sizes have to add up to; a dirty one among them is
    handed over with all other dirty entries, and then it is asked again.
    """
    closings = picture.closings(ns)
    is_exact = picture.config.variants.total is Total.EXACT
    while picture.limited() > picture.limit and ns in picture and (is_exact or picture.closings(ns) == closings):
        own = picture.open(ns)
        eldest_first = own.recent[::-1]
        if not eldest_first:
            return
        clean = next((at for at, key in enumerate(eldest_first) if own.nodes[key].is_dirty), len(eldest_first))
        freed = accumulate([own.nodes[key].size_bytes for key in eldest_first[:clean]])
        excess = picture.limited() - picture.limit
        count = next((at for at, so_far in enumerate(freed, start=1) if so_far >= excess), clean)
        for key in eldest_first[:count]:
            book(picture, -own.nodes[key].size_bytes)
            drop_clean(picture, ns, key)
            picture.evicts += 1
        if count < clean or picture.limited() <= picture.limit or count == len(eldest_first):
            continue
        hand_over_eldest(picture, ns, closings)
        if picture.error is not None or not picture.is_right:
            return
        picture.evicts += 1


def hand_over_eldest(picture: Picture, ns: str, closings: int) -> None:
    """The eldest entry, a dirty one, is handed over; what its namespace has lost then is reported."""
    before = picture.open(ns).size_bytes
    hand_over(picture, ns, picture.open(ns).recent[-1])
    if picture.error is None:
        book(picture, bytes_left(picture, ns, closings) - before)


def bytes_left(picture: Picture, ns: str, closings: int) -> int:
    """The bytes of the namespace that a call began with: none, if it was closed meanwhile."""
    return picture.open(ns).size_bytes if picture.closings(ns) == closings and ns in picture else 0


def drop_clean(picture: Picture, ns: str, key: str) -> None:
    """A clean entry is evicted, and nobody is told. Its key can only be dirty where a variant has lost its entry."""
    own = picture.open(ns)
    node, dirty = own.nodes[key], list(own.dirty)
    picture.drop(ns, key)
    own.dirty = dirty
    picture.tell(Rule.K_EVICT_2, "EVICT", ns, key, node)


def evict(picture: Picture, ns: str) -> None:
    """The eldest entry of a namespace is evicted."""
    if ns not in picture or not picture.open(ns).recent:
        return
    own, closings = picture.open(ns), picture.closings(ns)
    key = own.recent[-1]
    if own.nodes[key].is_dirty:
        hand_over_eldest(picture, ns, closings)
        return
    book(picture, -own.nodes[key].size_bytes)
    drop_clean(picture, ns, key)
