"""Second implementations of the policies, written from their papers and rules as lists that are searched.

They are slow and short, and use no code of ours. Each takes the requests one by one as (kind, entry, size, count) and
answers whether it was a hit.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from typing import Any

from cachetools import FIFOCache, LFUCache, LRUCache

from entrycache_league.requests import EXPECT, READ, Requests

Policy = Callable[[int, int, int, int], bool]


def hits_of(policy: Policy, requests: Requests) -> list[bool]:
    """Return whether each request was a hit."""
    zipped = zip(requests.kinds, requests.numbers, requests.counts, strict=True)
    return [
        policy(int(kind), int(entry), int(requests.sizes[entry]) if kind <= EXPECT else 0, int(count))
        for kind, entry, count in zipped
    ]


def library(kind: type[Any]) -> Callable[[int], Policy]:
    """Return a policy that uses a cache of cachetools."""

    def make(capacity: int) -> Policy:
        cache = kind(capacity, getsizeof=lambda size: size)

        def ask(kind: int, entry: int, size: int, count: int) -> bool:
            if kind > READ or (kind != READ and entry in cache):
                return False
            if cache.get(entry) is not None:
                return True
            if size <= capacity:
                cache[entry] = size
            return False

        return ask

    return make


fifo, lru, lfu = library(FIFOCache), library(LRUCache), library(LFUCache)


def clock(capacity: int) -> Policy:
    held: deque[list[int]] = deque()  # [entry, size, bit], the oldest first

    def ask(kind: int, entry: int, size: int, count: int) -> bool:
        if kind > READ:
            return False
        for item in held:
            if item[0] == entry:
                item[2] = item[2] or kind == READ
                return kind == READ
        if size <= capacity:
            while sum(item[1] for item in held) + size > capacity:
                item = held.popleft()
                if item[2]:
                    held.append([item[0], item[1], 0])
            held.append([entry, size, 0])
        return False

    return ask


def sieve(capacity: int) -> Policy:
    held: list[list[int]] = []  # the oldest first
    hand: list[int] | None = None

    def ask(kind: int, entry: int, size: int, count: int) -> bool:
        nonlocal hand
        if kind > READ:
            return False
        segment = next((item for item in held if item[0] == entry), None)
        if segment:
            segment[2] = segment[2] or kind == READ
            return kind == READ
        while size <= capacity and sum(item[1] for item in held) + size > capacity:
            at = 0 if hand is None else held.index(hand)
            while held[at][2]:
                held[at][2] = 0
                at = (at + 1) % len(held)
            hand = held[at + 1] if at + 1 < len(held) else None
            del held[at]
        if size <= capacity:
            held.append([entry, size, 0])
        return False

    return ask


def s3fifo(capacity: int) -> Policy:
    small: OrderedDict[int, int] = OrderedDict()
    main: OrderedDict[int, int] = OrderedDict()
    ghost: OrderedDict[int, int] = OrderedDict()
    freq: Counter[int] = Counter()
    share = capacity // 10

    def evict() -> None:
        if small and (sum(small.values()) >= share or not main):
            entry, size = small.popitem(last=False)
            (main if freq[entry] > 1 else ghost)[entry] = size
            freq[entry] = 0
        else:
            entry, size = main.popitem(last=False)
            if freq[entry]:
                main[entry] = size
                freq[entry] -= 1

    def ask(kind: int, entry: int, size: int, count: int) -> bool:
        if kind > READ:
            return False
        if entry in small or entry in main:
            freq[entry] = min(3, freq[entry] + (kind == READ))
            return kind == READ
        if size <= capacity:
            into = main if ghost.pop(entry, None) is not None else small
            while sum(small.values()) + sum(main.values()) + size > capacity:
                evict()
            while sum(ghost.values()) > capacity - share:
                ghost.popitem(last=False)
            freq[entry] = 0
            into[entry] = size
        return False

    return ask


def arc(capacity: int) -> Policy:
    once, again, once_ghost, again_ghost = (OrderedDict[int, int]() for _ in range(4))
    target = 0

    def weight(*lists: OrderedDict[int, int]) -> int:
        return sum(sum(each.values()) for each in lists)

    def ask(kind: int, entry: int, size: int, count: int) -> bool:
        nonlocal target
        if kind > READ:
            return False
        live = next((each for each in (once, again) if entry in each), None)
        if live is not None and kind == READ:
            del live[entry]
            again[entry] = size
        if live is not None or size > capacity:
            return live is not None and kind == READ
        in_again = entry in again_ghost
        is_ghost = in_again or entry in once_ghost
        b1, b2 = weight(once_ghost), weight(again_ghost)
        if in_again:
            target = max(0, target - max(size, size * b1 // b2))
            del again_ghost[entry]
        elif is_ghost:
            target = min(capacity, target + max(size, size * b2 // b1))
            del once_ghost[entry]
        else:
            while weight(once, once_ghost) + size > capacity:
                (once_ghost or once).popitem(last=False)
        while weight(once, again) + size > capacity:
            t1 = weight(once)
            if once and (t1 > target or (in_again and t1 == target) or not again):
                once_ghost.update([once.popitem(last=False)])
            else:
                again_ghost.update([again.popitem(last=False)])
        while not is_ghost and weight(once, again, once_ghost, again_ghost) + size > 2 * capacity:
            again_ghost.popitem(last=False)
        (again if is_ghost else once)[entry] = size
        return False

    return ask


def tinylfu(capacity: int, period: int) -> Policy:
    window, probation, protected = (OrderedDict[int, int]() for _ in range(3))
    freq: Counter[int] = Counter()
    request_count = 0
    room = capacity - capacity // 100

    def admit(entry: int, size: int) -> None:
        while sum(probation.values()) + sum(protected.values()) + size > room:
            lists = [each for each in (probation, protected) if each]
            victim = next(iter(lists[0])) if lists else None
            if victim is None or freq[entry] <= freq[victim]:
                return
            del lists[0][victim]
        probation[entry] = size

    def ask(kind: int, entry: int, size: int, count: int) -> bool:
        nonlocal request_count
        if kind > READ:
            return False
        request_count += 1
        freq[entry] = min(15, freq[entry] + 1)
        if request_count % period == 0:
            for key in freq:
                freq[key] //= 2
        segment = next((each for each in (window, probation, protected) if entry in each), None)
        if segment is not None:
            if kind == READ:
                del segment[entry]
                (window if segment is window else protected)[entry] = size
                while sum(protected.values()) > room * 4 // 5:
                    probation.update([protected.popitem(last=False)])
            return kind == READ
        if size <= capacity:
            window[entry] = size
            while sum(window.values()) > capacity // 100:
                admit(*window.popitem(last=False))
        return False

    return ask


def expected_reads(capacity: int) -> Policy:
    held: dict[int, list[int]] = {}  # in the order of insertion: [expected, size]

    def ask(kind: int, entry: int, size: int, count: int) -> bool:
        if entry in held and kind <= EXPECT:
            held[entry][0] = max(0, held[entry][0] - (kind == READ)) + (kind == EXPECT)
            return kind == READ
        if kind <= READ and size <= capacity:
            held[entry] = [max(0, count - (kind == READ)), size]
            while sum(size for _, size in held.values()) > capacity:
                del held[min(held, key=lambda each: held[each][0])]
        return False

    return ask


def most_hits(requests: Requests, slots: int) -> int:
    """Return the most hits of any choice of entries to keep, by trying all choices (entries of one size)."""
    best: dict[frozenset[int], int] = {frozenset(): 0}
    for kind, entry in _data_requests(requests):
        reached: dict[frozenset[int], int] = {}
        for contents, hits in best.items():
            hits += entry in contents and kind == READ
            for after in (contents, *_admissions(contents, entry, slots)):
                reached[after] = max(reached.get(after, 0), hits)
        best = reached
    return max(best.values())


def _data_requests(requests: Requests) -> Iterator[tuple[int, int]]:
    for kind, entry in zip(requests.kinds, requests.numbers, strict=True):
        if kind <= READ:
            yield int(kind), int(entry)


def _admissions(contents: frozenset[int], entry: int, slots: int) -> Iterator[frozenset[int]]:
    if entry in contents:
        return
    if len(contents) < slots:
        yield contents | {entry}
    else:
        yield from (contents - {other} | {entry} for other in contents)
