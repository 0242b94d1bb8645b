"""Replay of the entries of a thread: what is cached, dirty and handed over, by the reference's own functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from entrycache_reference.kafka_streams.named_cache import looked_up, removed, without_key, written
from entrycache_reference.kafka_streams.outcomes import Context
from entrycache_reference.kafka_streams.state import Node, Space
from entrycache_spark.kafka_streams.replay.facts import ENDS, Facts
from entrycache_spark.replaying import Row, differ

Key = tuple[str | None, int | None]
Tell = Callable[..., None]

RULE_OF: Final = {"HIT": "K-GET-1", "EVICT": "K-EVICT-1", "DELETE": "K-DELETE-1", "CLEAR": "K-CLOSE-1"}


class Shown(NamedTuple):
    """An entry as its key's last row showed it."""

    life: int | None = None
    size_bytes: int | None = None
    dirty: bool | None = None


class Handed(NamedTuple):
    """The last time that a key was handed over, or evicted."""

    life: int | None
    call_id: int | None
    seq: int
    dirty: bool = True

    def is_of(self, row: Row) -> bool:
        """Whether it was the same life, and in the same call."""
        return row["life"] is not None and self.life == row["life"] and self.call_id == row["call_id"]


@dataclass
class KeyStory:
    """What is known of one key."""

    put: Row | None = None
    shown: Shown = field(default_factory=Shown)
    flushed: Handed | None = None
    evicted: Handed | None = None
    leaves: dict[int, Handed] = field(default_factory=dict)
    """The eviction that is the key's next event behind a FLUSH."""


class Entries:
    """The namespaces of a thread. `told`: by writes and ends alone; `used`: as the rows show them, for recency."""

    def __init__(self, facts: Facts, tell: Tell) -> None:
        self._facts = facts
        self._tell = tell
        self.told: defaultdict[str | None, Space] = defaultdict(Space)
        self.used: defaultdict[str | None, Space] = defaultdict(Space)
        self.stories: defaultdict[Key, KeyStory] = defaultdict(KeyStory)
        self.live_in_all = 0
        self.sum_bytes = 0
        self.was_live = False
        self.is_evicted = False
        self.leaves_here = False
        self.was_handed = False
        self.flushed_seq: int | None = None
        self._look_ahead()
        self._lost()

    def _look_ahead(self) -> None:
        coming: dict[Key, Row] = {}
        for row in reversed(self._facts.rows):
            key = (row["cache"], row["key_hash"])
            after = coming.get(key)
            if row["op"] == "FLUSH" and after is not None and after["op"] == "EVICT":
                self.stories[key].leaves[row["seq"]] = Handed(
                    after["life"], after["call_id"], after["seq"], after["dirty"]
                )
            coming[key] = row

    def _lost(self) -> None:
        """Dirty evictions that nobody was told of."""
        rows = self._facts.rows
        flushed = {(row["life"], row["call_id"]) for row in rows if row["op"] == "FLUSH"}
        evicted = {(row["life"], row["call_id"]): row for row in rows if row["op"] == "EVICT" and row["dirty"]}
        last_call = max((row["call_id"] for row in rows if row["call_id"] is not None), default=None)
        for named, row in evicted.items():
            if named not in flushed:
                before_last = row["call_id"] is not None and last_call is not None and row["call_id"] < last_call
                sure = not self._facts.gapped and (self._facts.complete or before_last)
                self._tell("K-EVICT-3", row, "a FLUSH of the same life and call", sure=sure)

    def follow(self, at: int, row: Row) -> None:
        """Take in one event."""
        op, life, cache = row["op"], row["life"], row["cache"]
        story = self.stories[(cache, row["key_hash"])]
        node = self.told[cache].nodes.get(str(row["key_hash"]))
        self.was_live = node is not None
        evictions = (story.evicted, story.leaves.get(row["seq"])) if op == "FLUSH" else ()
        own = [each for each in evictions if each is not None and each.is_of(row)]
        self.leaves_here = bool(own)
        self.is_evicted = any(each.dirty for each in own)
        self.flushed_seq = None
        if story.flushed is not None and life is not None and story.flushed.life == life:
            self.flushed_seq = story.flushed.seq
        self.was_handed = story.flushed is not None and story.flushed.is_of(row)
        if op == "PUT" and life != row["seq"]:
            self._tell("K-PUT-1", row, f"life {row['seq']}", sure=True)
        if self._facts.whole[at]:
            self._judge(row, story, node)
        self._apply(row, story, node)

    def _judge(self, row: Row, story: KeyStory, node: Node | None) -> None:
        op, life = row["op"], row["life"]
        if op in ("HIT", *ENDS):
            self._found(row, story, node)
        if op == "MISS" and node is not None and story.shown.life is not None:
            self._tell("K-GET-2", row, f"a HIT of life {node.write}", [node.write, row["seq"]], life=node.write)
        if op == "PUT" and not row["dirty"] and node is not None and node.is_dirty and story.shown.dirty:
            self._tell("K-PUT-4", row, "no clean PUT over a dirty entry", [node.write, row["seq"]])
        if op == "FLUSH" and (node is None or life != node.write) and not self.leaves_here:
            self._tell("K-FLUSH-1", row, "what is cached, or evicted by this call")
        dropped = op == "DELETE" and row["cause"] == "FLUSH"
        if dropped and (not self.was_handed or self._strange(row, story, node)):
            self._tell("K-FLUSH-4", row, "what was handed over in this call, and is there")
        used, key = self.used[row["cache"]], str(row["key_hash"])
        if op == "EVICT" and key in used.nodes and used.recent[-1] != key:
            self._tell("K-EVICT-1", row, "the least recently used entry")
        self._flags(row, story, node)
        if op in ("HIT", "FLUSH", "FAILED", *ENDS) and story.put is not None and life == story.put["seq"]:
            size = row["size_bytes"]
            if differ(size, story.put["size_bytes"] or 0) and differ(size, story.shown.size_bytes):
                self._tell("K-SIZE-1", row, f"size_bytes {story.put['size_bytes']}", [life, row["seq"]])

    @staticmethod
    def _strange(row: Row, story: KeyStory, node: Node | None) -> bool:
        """Whether a row is about another life than what is cached, by all that is known."""
        return row["life"] is None or (
            row["life"] != story.shown.life and row["life"] != (None if node is None else node.write)
        )

    def _found(self, row: Row, story: KeyStory, node: Node | None) -> None:
        op, cause = row["op"], row["cause"]
        if not self._strange(row, story, node):
            return
        if op == "REMOVE":
            rule = {"CLEAR": "K-CLOSE-1", "CLOSE": "K-CLOSE-2"}.get(cause)
        elif op == "DELETE" and (cause == "FLUSH" or row["life"] is None):
            rule = None
        else:
            rule = RULE_OF[op]
        if rule is not None:
            self._tell(rule, row, "nothing cached" if node is None else f"life {node.write}")

    def _flags(self, row: Row, story: KeyStory, node: Node | None) -> None:
        op, life, shown = row["op"], row["life"], story.shown
        if node is None or life != node.write or shown.dirty is None or op not in ("HIT", "FLUSH", *ENDS):
            return
        if op != "FLUSH" and not row["dirty"] and node.is_dirty and shown.dirty:
            self._tell("K-FLUSH-3", row, "a dirty entry, or its FLUSH before", [node.write, row["seq"]])
        if node.is_dirty or shown.dirty:
            return
        just = op == "EVICT" and self.was_handed
        if op == "FLUSH" or (row["dirty"] and not just):
            self._tell("K-FLUSH-2", row, "a clean entry", [node.write, row["seq"]])

    def _apply(self, row: Row, story: KeyStory, node: Node | None) -> None:
        op, cache, key = row["op"], row["cache"], str(row["key_hash"])
        space, used = self.told[cache], self.used[cache]
        if op == "PUT":
            made = Node(None, row["dirty"], row["size_bytes"] or 0, Context(), row["seq"])
            self._grow(made.size_bytes - (0 if node is None else node.size_bytes), 1 if node is None else 0)
            # A clean write over a dirty entry, which the reference refuses, leaves it clean.
            left = space if node is None or row["dirty"] else removed(space, key)
            self.told[cache] = written(left, key, made)
            self.used[cache] = written(used, key, made)
            story.put = row
            story.shown = Shown(row["life"], row["size_bytes"], row["dirty"])
        elif op == "HIT":
            there = used if key in used.nodes else written(used, key, Node(None, False, 0, Context(), row["seq"]))
            self.used[cache] = looked_up(there, key)
            size = story.shown.size_bytes if row["size_bytes"] is None else row["size_bytes"]
            story.shown = Shown(row["life"], size, row["dirty"])
        elif op in ("MISS", *ENDS):
            self.used[cache] = removed(used, key)
            story.shown = story.shown._replace(life=None)
            if op in ENDS and node is not None:
                self._grow(-node.size_bytes, -1)
                self.told[cache] = removed(space, key)
            if op == "EVICT":
                story.evicted = Handed(row["life"], row["call_id"], row["seq"], row["dirty"])
        elif op == "FLUSH":
            story.flushed = Handed(row["life"], row["call_id"], row["seq"])
            story.shown = story.shown._replace(dirty=False)
            if node is not None and story.put is not None:
                self._mark(cache, key, node, bool(story.put["dirty"]) and row["life"] != node.write)

    def _mark(self, cache: str | None, key: str, node: Node, is_dirty: bool) -> None:
        space = self.told[cache]
        others = without_key(space.dirty, key)
        marked = {**space.nodes, key: node._replace(is_dirty=is_dirty)}
        self.told[cache] = space._replace(nodes=marked, dirty=(*others, key) if is_dirty else others)

    def _grow(self, size_bytes: int, entries: int) -> None:
        self.sum_bytes += size_bytes
        self.live_in_all += entries
