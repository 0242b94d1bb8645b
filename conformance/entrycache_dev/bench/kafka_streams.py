"""The fast cache of `kafka-streams` beside cachetools' LRU cache and the released ThreadCache in its own JVM.

All play the same puts and gets with the same number of live entries. A dirty put is a write that a listener must get;
an eviction hands over all dirty entries. `released_cache` starts the JVM and plays the mix there.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Final, NamedTuple

from entrycache_conformance.java.program import build_program
from entrycache_dev.bench import measurement
from entrycache_fast.kafka import DirtyEntry, ThreadCache
from entrycache_protocol.errors import BrokenSubject

FAMILY: Final = "kafka-streams"
MODULE: Final = "bench"
MAIN: Final = "org.apache.kafka.streams.state.internals.StreamCosts"
"""The main class of the program in that module of the Maven project."""

LIVE: Final = (1_000, 100_000)
NAMESPACE: Final = "0_0-store"
JVM: Final = "ThreadCache"
WARM_PLAYS: Final = 3
"""The number of times that the JVM plays the mix before it counts."""

KeyedOperation = tuple[bool, bytes]
"""An operation: whether it is a put, and its key."""


class PlayedStreams(NamedTuple):
    """The time of a mix, its hits, and the entries that a listener got."""

    seconds: float
    hits: int
    handed: int = 0


class StreamsMix(NamedTuple):
    """The operations before the mix, the mix, and the number of entries that caches may hold."""

    before: list[KeyedOperation]
    measured: list[KeyedOperation]
    live: int

    @property
    def max_size_bytes(self) -> int:
        """The limit in bytes for that many live entries."""
        cache = ThreadCache(1_000)
        cache.put(NAMESPACE, key_of(0), measurement.VALUE)
        return self.live * cache.size_bytes


def key_of(entry: int) -> bytes:
    """Return the key of an entry."""
    return b"%012d" % entry


def make_streams_mix(count: int, live: int) -> StreamsMix:
    """Return the mix of the other caches: puts of new keys and gets of the newest ones."""
    before = [(put, key_of(entry)) for put, _, entry in measurement.warm_up_operations(live)]
    return StreamsMix(
        before, [(put, key_of(entry)) for put, _, entry in measurement.mixed_operations(count, live)], live
    )


def play_fast(mix: StreamsMix, dirty: bool = False) -> PlayedStreams:
    """Play the mix on the fast cache; a dirty entry that must leave is handed over with all other dirty ones."""
    cache = ThreadCache(mix.max_size_bytes)
    put, get = cache.put, cache.get
    hits = handed = 0

    def listener(entries: list[DirtyEntry]) -> None:
        nonlocal handed
        handed += len(entries)

    def play(part: list[KeyedOperation]) -> None:
        nonlocal hits
        for puts, key in part:
            if puts:
                put(NAMESPACE, key, measurement.VALUE, dirty)
            elif get(NAMESPACE, key) is not None:
                hits += 1

    cache.listen(NAMESPACE, listener)
    play(mix.before)
    hits = handed = 0
    return PlayedStreams(measurement.seconds_of(lambda: play(mix.measured)), hits, handed)


def play_mapping(mix: StreamsMix, cache: Any) -> PlayedStreams:
    """Play the mix on a cache of cachetools, which counts entries."""
    get = cache.get
    hits = 0

    def play(part: list[KeyedOperation]) -> None:
        nonlocal hits
        for puts, key in part:
            if puts:
                cache[key] = measurement.VALUE
            elif get(key) is not None:
                hits += 1

    play(mix.before)
    hits = 0
    return PlayedStreams(measurement.seconds_of(lambda: play(mix.measured)), hits)


@contextmanager
def released_cache(version: str, mix: StreamsMix) -> Iterator[Callable[[bool], PlayedStreams]]:
    """Start the released cache in its own JVM and warm it up; yield a function that plays the mix once more.

    Raises:
        UsageError: there is no driver for that version.
        MissingPrerequisite: Java or the jars are missing.
        BrokenSubject: the cache fails.
    """
    with build_program(f"{FAMILY}:{version}", MODULE).start(MAIN) as process:
        assert process.stdin is not None and process.stdout is not None
        parts = (" ".join(map(_operation_number, part)) for part in (mix.before, mix.measured))
        process.stdin.write("\n".join([str(mix.max_size_bytes), *parts]) + "\n")

        def play(dirty: bool) -> PlayedStreams:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write("dirty\n" if dirty else "clean\n")
            process.stdin.flush()
            answer = process.stdout.readline().split()
            if len(answer) != len(PlayedStreams._fields):
                raise BrokenSubject(f"the ThreadCache of Kafka Streams {version} could not be measured")
            nanos, hits, handed = map(int, answer)
            return PlayedStreams(nanos / 1e9, hits, handed)

        for _ in range(WARM_PLAYS):
            play(False)
            play(True)
        yield play
        process.stdin.close()


def _operation_number(operation: KeyedOperation) -> str:
    """Encode a put of entry n as n, and a get as -n - 1."""
    puts, key = operation
    return str(int(key) if puts else -int(key) - 1)


def measure_streams(rounds: int, count: int, version: str | None) -> list[measurement.Measurement]:
    """Measure clean writes beside both other caches, and dirty ones beside the released cache."""
    return [item for live in LIVE for item in measure_streams_at(rounds, count, live, version)]


def measure_streams_at(rounds: int, count: int, live: int, version: str | None) -> list[measurement.Measurement]:
    """Measure with that many live entries."""
    mix = make_streams_mix(count, live)
    lru = measurement.import_lru_cache()
    played: dict[str, PlayedStreams] = {}

    def noted(name: str, play: Callable[[], PlayedStreams]) -> Callable[[], float]:
        def run() -> float:
            played[name] = play()
            return played[name].seconds

        return run

    runs = {
        "fast": noted("fast", lambda: play_fast(mix)),
        "LRU": noted("LRU", lambda: play_mapping(mix, lru(live))),
        "fast, dirty": noted("fast, dirty", lambda: play_fast(mix, dirty=True)),
    }
    with nullcontext() if version is None else released_cache(version, mix) as in_jvm:
        if in_jvm is not None:
            runs[JVM] = noted(JVM, lambda: in_jvm(False))
            runs[f"{JVM}, dirty"] = noted(f"{JVM}, dirty", lambda: in_jvm(True))
        seconds = measurement.interleaved(rounds, runs)
    pairs = [("fast", "LRU"), ("fast, dirty", "LRU")]
    if version is not None:
        pairs += [("fast", JVM), ("fast, dirty", f"{JVM}, dirty")]
    gets = max(1, sum(not puts for puts, _ in mix.measured))
    measurements = []
    for ours, other in pairs:
        shares = ", ".join(f"{name} {played[name].hits / gets:.1%}" for name in (ours, other))
        rates = f"{measurement.thousands(seconds, ours, count)} and {measurement.thousands(seconds, other, count)}"
        peer = f"cachetools {other}" if other == "LRU" else f"{other} of Kafka Streams {version}, in its JVM"
        what = f"{ours}, times {peer}, {live:,} live"
        measurements.append(
            measurement.Measurement(what, measurement.ratio(seconds, other, ours), "", note=f"{rates}; hits: {shares}")
        )
    return measurements
