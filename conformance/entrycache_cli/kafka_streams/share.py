"""What one thread of a Kafka Streams client gets of its record cache, and how many entries fit into that."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_cli.settings.kinds import COUNT, LONG, Kind
from entrycache_cli.settings.properties import Given, read_properties
from entrycache_protocol.errors import UsageError
from entrycache_reference.kafka_streams import Config, initial, ops, step
from entrycache_reference.kafka_streams.outcomes import Shared
from entrycache_reference.kafka_streams.size import size_bytes

TOTAL: Final = "statestore.cache.max.bytes"
DEPRECATED: Final = "cache.max.bytes.buffering"
THREADS: Final = "num.stream.threads"
KINDS: Final[dict[str, Kind]] = {TOTAL: LONG, DEPRECATED: LONG, THREADS: COUNT}
DEFAULTS: Final = {TOTAL: 10_485_760, THREADS: 1}
"""Of `StreamsConfig`, the same in 3.9.2, 4.0.0 and 4.3.1."""


class Setting(NamedTuple):
    """The value of a setting, and where it comes from."""

    value: int
    source: str


class Client(NamedTuple):
    """What the cache of a client is made of. `threads` counts stream threads, the global one not."""

    total_bytes: Setting
    threads: Setting
    global_thread: bool


class Entry(NamedTuple):
    """An entry as a cache counts it: sizes in bytes, names of topic and headers in UTF-16 units."""

    key_bytes: int = 0
    value_bytes: int = 0
    topic: str = ""
    header_bytes: int = 0

    @property
    def counted_bytes(self) -> int:
        """What the entry counts (K-SIZE-1)."""
        return size_bytes("", "", self.topic, ()) + self.key_bytes + self.value_bytes + self.header_bytes


def share_bytes(total_bytes: int, threads: int, global_thread: bool) -> int:
    """The bytes of each thread's cache (K-SHARE-1), computed by the reference."""
    config = Config()
    answer = step(initial(config), ops.Share(total_bytes, threads, global_thread), config).outcome.answer
    assert isinstance(answer, Shared)
    return answer.bytes


def client_of(path: Path | None, total_bytes: int | None, threads: int | None, global_thread: bool) -> Client:
    """The client that a properties file describes; what is given besides wins over the file.

    As `StreamsConfigUtils.totalCacheSize` does, the deprecated name counts only where the other one is not given.

    Raises:
        UsageError: the file cannot be read, gives a setting twice, or gives one a value that it cannot have.
    """
    found = {} if path is None else _read(path)
    total = found.get(TOTAL) or found.get(DEPRECATED) or Setting(DEFAULTS[TOTAL], "default")
    count = found.get(THREADS) or Setting(DEFAULTS[THREADS], "default")
    if total_bytes is not None:
        total = Setting(total_bytes, "--total")
    if threads is not None:
        count = Setting(threads, "--threads")
    if count.value == 0 and not global_thread:
        raise UsageError(f"{count.source} says 0 stream threads; expected at least 1, or --global-thread")
    return Client(total, count, global_thread)


def _read(path: Path) -> dict[str, Setting]:
    found: dict[str, Setting] = {}
    for given in read_properties(path, "the properties file", "a client"):
        if given.name not in KINDS:
            continue
        if given.name in found:
            raise UsageError(f"{path}: line {given.line}: {given.name} is given twice; expected once")
        found[given.name] = Setting(_value(path, given), f"{given.name}, {path.name} line {given.line}")
    return found


def _value(path: Path, given: Given) -> int:
    value = KINDS[given.name].read(given.name, given.text.strip(), f"{path}: line {given.line}")
    assert isinstance(value, int)
    return value


def to_json(client: Client, entry: Entry, caches: int) -> dict[str, Any]:
    """All numbers, with where the settings come from."""
    share = share_bytes(client.total_bytes.value, client.threads.value, client.global_thread)
    takers = max(1, client.threads.value + client.global_thread)
    return {
        "total_bytes": client.total_bytes.value,
        "total_from": client.total_bytes.source,
        "threads": client.threads.value,
        "threads_from": client.threads.source,
        "global_thread": client.global_thread,
        "thread_bytes": share,
        "unused_bytes": client.total_bytes.value - share * takers,
        "key_bytes": entry.key_bytes,
        "value_bytes": entry.value_bytes,
        "entry_bytes": entry.counted_bytes,
        "caches": caches,
        "entries": share // entry.counted_bytes,
        "entries_each_if_written_alike": share // caches // entry.counted_bytes,
    }


def in_words(numbers: dict[str, Any]) -> list[str]:
    """The same for a person, a sentence a line."""
    threads = f"{numbers['threads']} stream thread{'' if numbers['threads'] == 1 else 's'}"
    takers = f"{threads} and a global thread" if numbers["global_thread"] else threads
    lines = [
        f"{numbers['total_bytes']} bytes for the client ({numbers['total_from']}), "
        f"{takers} ({numbers['threads_from']})",
        f"each thread: {numbers['thread_bytes']} bytes; {numbers['unused_bytes']} are nobody's",
        "each store of each task: nothing of its own; all caches of a thread share its bytes, the one that is "
        "written pays for the overflow, the others keep what they hold",
        f"an entry with a key of {numbers['key_bytes']} and a value of {numbers['value_bytes']} bytes counts "
        f"{numbers['entry_bytes']} with what is beside them",
    ]
    if numbers["total_bytes"] == 0:
        return [*lines, "nothing is kept: every write is written below and forwarded at once"]
    if numbers["entries"] == 0:
        return [*lines, "none fits: such a write evicts all of its own cache and then itself"]
    lines.append(f"{numbers['entries']} fit where one cache has the thread to itself")
    if numbers["caches"] > 1:
        each = numbers["entries_each_if_written_alike"]
        lines.append(f"{each} in each of {numbers['caches']} caches where all are written alike: an average, no limit")
    return lines
