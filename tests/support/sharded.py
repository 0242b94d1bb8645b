"""A cache whose removal queue is sharded: our fast cache over `ShardedQueue`, as a subject with `order_slack`.

The number of an entry says its shard. A pass asks the shards in turn: it takes the oldest entry of a shard if at most
`slack` live entries of the other shards are older, else that of the next shard.
"""

from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430.fast_cache import DECLARATION, open_cache
from entrycache_conformance.systems.pulsar_pip430.system import SYSTEM
from entrycache_fast.pulsar.cache import BrokerCache
from entrycache_fast.pulsar.rows import Row
from entrycache_protocol.codec import OrderedOutcome
from entrycache_protocol.subject import InProcessSubject
from entrycache_reference.vocabulary import Position

SHARDS: Final = 3


class ShardedQueue:
    """A removal queue of several shards; `queue[0]` is the entry that a pass looks at next."""

    def __init__(self, slack: int) -> None:
        self.slack = slack
        self.shards: list[deque[tuple[int, Any]]] = [deque() for _ in range(SHARDS)]
        self.appended = 0
        self.turn = 0

    def append(self, entry: Any) -> None:
        self.shards[entry.number % SHARDS].append((self.appended, entry))
        self.appended += 1

    def _older(self, number: int) -> int:
        """Return the number of live entries that were appended before."""
        return sum(at < number and not entry.dead_slots for shard in self.shards for at, entry in shard)

    def _shard(self) -> deque[tuple[int, Any]]:
        turns = (self.shards[(self.turn + at) % SHARDS] for at in range(SHARDS))
        heads = [shard for shard in turns if shard]
        return next(
            shard for shard in heads if shard[0][1].dead_slots or self._older(shard[0][0]) <= self.slack
        )  # the oldest live head has none before it

    def __getitem__(self, at: int) -> Any:
        assert at == 0
        return self._shard()[0][1]

    def popleft(self) -> Any:
        entry = self._shard().popleft()[1]
        self.turn += 1
        return entry

    def __len__(self) -> int:
        return sum(map(len, self.shards))

    def __iter__(self) -> Iterator[Any]:
        return (entry for _, entry in sorted((item for shard in self.shards for item in shard), key=lambda it: it[0]))


class ShardedCache(BrokerCache):
    """The fast cache over a sharded queue, which merges no dead slots."""

    slack = 0

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._queue = ShardedQueue(self.slack)  # type: ignore[assignment]

    def _merge_dead_slots(self) -> None:
        pass


def cache_of(slack: int) -> type[ShardedCache]:
    return type(f"ShardedCache{slack}", (ShardedCache,), {"slack": slack})


def open_sharded(config: Any, cache_type: type[BrokerCache], reports: bool) -> Any:
    """Open an instance that reports what its passes did, from the rows that the cache reports."""
    rows: list[Row] = []
    instance = open_cache(config, cache_type, rows.append)

    def answer(op: Any) -> Any:
        rows.clear()
        outcome = instance(op)
        taken = tuple(
            (row.cache, Position(row.ledger_id, row.entry_id), "removed" if row.op == "EVICT" else "requeued")
            for row in rows
            if row.op in {"EVICT", "REQUEUE"}
        )
        return OrderedOutcome(outcome, taken) if reports and taken else outcome

    return answer


def sharded(slack: int, declared: int, cache_type: type[BrokerCache] | None = None) -> InProcessSubject:
    """Return the sharded cache with this slack, under a declaration of another one."""
    opener = partial(open_sharded, cache_type=cache_type or cache_of(slack), reports=declared > 0)
    parts = [name for name in DECLARATION["introspection"] if name != "tombstones"]
    offer = {**DECLARATION, "introspection": parts, "leaks": False, "order_slack": declared}
    return InProcessSubject("sharded", SYSTEM, opener, offer)
