"""Published claims about the caches of Pulsar, and what the numbers of the page say about them.

`PageNumbers` are the numbers of the page. A `Claim` is a published statement about the caches of Pulsar with a function
that checks it against the numbers; its `ClaimResult` is confirmed, refuted or mixed. `compare_eras` says where the
cache of one era, with its defaults, has more hits than another policy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from entrycache_league.comparison import PolicyComparison, PolicyResult, RequestCost
from entrycache_league.policies import ERA_DEFAULTS

PIP: Final = "PIP-430"
PR: Final = "apache/pulsar pull request 24363"

MANY_TOPICS: Final = 1_000
"""The number of topics from which on a broker has many."""


@dataclass(frozen=True)
class PageNumbers:
    """The comparisons of the presets by name, and the costs of requests."""

    comparisons: Mapping[str, PolicyComparison]
    costs: Sequence[RequestCost]

    def of(self, preset: str, policy: str) -> PolicyResult:
        """Return the result of a policy in the table of a preset."""
        return next(each for each in self.comparisons[preset].table if each.policy == policy)

    def largest(self, preset: str, policy: str) -> PolicyResult:
        """Return the result of a policy at the largest capacity of the curve."""
        return [each for each in self.comparisons[preset].curve if each.policy == policy][-1]

    def result(self, preset: str, policy: str, large: bool) -> PolicyResult:
        """Return the result of a policy in the table, or at the largest capacity of the curve."""
        return self.largest(preset, policy) if large else self.of(preset, policy)

    def cost(self, policy: str) -> list[RequestCost]:
        """Return the costs of a policy, from few to many topics."""
        return [each for each in self.costs if each.policy == policy]


@dataclass(frozen=True)
class ClaimResult:
    """The verdict on a claim (confirmed, refuted or mixed), and the numbers behind it."""

    verdict: str
    numbers: str


@dataclass(frozen=True)
class Claim:
    """A claim, its source, and the check against the numbers; without a check, the reason why there is none."""

    text: str
    source: str
    check: Callable[[PageNumbers], ClaimResult] | None
    why_not: str = ""


def claim_verdict(*confirming: bool) -> str:
    """Return whether all numbers confirm a claim, all refute it, or they are mixed."""
    return "confirmed" if all(confirming) else "mixed" if any(confirming) else "refuted"


def _check_topics(numbers: PageNumbers) -> ClaimResult:
    pairs = [
        (old, new)
        for old, new in zip(numbers.cost("legacy"), numbers.cost("pip430:expected"), strict=True)
        if old.topics >= MANY_TOPICS
    ]
    text = "; ".join(
        f"{old.topics:,} topics: {old.nanos / new.nanos:.1f} times the time, {old.examined:.2f} examined instead of "
        f"{new.examined:.2f}"
        for old, new in pairs
    )
    return ClaimResult(
        claim_verdict(*(old.nanos > new.nanos for old, new in pairs)),
        f"a request of legacy beside one of pip430:expected: {text}",
    )


def _compare_pairs(numbers: PageNumbers, presets: Sequence[str], old: str, new: str) -> ClaimResult:
    pairs = [(name, numbers.of(name, old), numbers.of(name, new)) for name in presets]
    text = "; ".join(f"{name}: {old} {a.hit_ratio:.4f}, {new} {b.hit_ratio:.4f}" for name, a, b in pairs)
    return ClaimResult(claim_verdict(*(b.hit_ratio > a.hit_ratio for _, a, b in pairs)), f"hit ratios: {text}")


def _check_oldest_first(numbers: PageNumbers) -> ClaimResult:
    return _compare_pairs(numbers, ("mixed-sizes", "tail-fanout", "reconnect"), "legacy", "pip430:plain")


def _check_expected(numbers: PageNumbers) -> ClaimResult:
    return _compare_pairs(numbers, ("replay", "mixed-sizes", "tail-fanout"), "pip430:plain", "pip430:expected")


def _check_like_lru(numbers: PageNumbers) -> ClaimResult:
    plain, extend = numbers.of("zipf", "pip430:plain+backlog"), numbers.of("zipf", "pip430:extend+backlog")
    fifo, lru = numbers.of("zipf", "fifo"), numbers.of("zipf", "lru")
    return ClaimResult(
        claim_verdict(abs(extend.hits - lru.hits) < abs(plain.hits - lru.hits), extend.hits > plain.hits),
        f"zipf: with extension {extend.hit_ratio:.4f}, without {plain.hit_ratio:.4f}; lru {lru.hit_ratio:.4f}, "
        f"fifo {fifo.hit_ratio:.4f} (no time to live)",
    )


def _check_reconnect(numbers: PageNumbers) -> ClaimResult:
    pairs = [
        (flags, numbers.of("reconnect", f"pip430:{flags[0]}"), numbers.of("reconnect", f"pip430:{flags[1]}"))
        for flags in (("expected", "expected+extend"), ("plain+backlog", "extend+backlog"))
    ]
    text = "; ".join(f"{f[0]} {a.hit_ratio:.4f}, {f[1]} {b.hit_ratio:.4f}" for f, a, b in pairs)
    return ClaimResult(claim_verdict(*(b.hits > a.hits for _, a, b in pairs)), f"reconnect: {text}")


def _check_catch_up(numbers: PageNumbers) -> ClaimResult:
    names = ("legacy", "legacy:backlog", "pip430:expected")
    small = {name: numbers.of("catch-up", name) for name in names}
    large = {name: numbers.largest("catch-up", name) for name in names}

    def describe(of: Mapping[str, PolicyResult]) -> str:
        size = of["legacy"].capacity_bytes / 2**20
        return f"{size:.1f} MiB: " + ", ".join(f"{name} {of[name].storage_reads_an_entry:.2f}" for name in names)

    better = [of["pip430:expected"].misses < of[name].misses for of in (small, large) for name in names[:2]]
    return ClaimResult(claim_verdict(*better), f"storage reads an entry, {describe(small)}; {describe(large)}")


def _check_replay(numbers: PageNumbers) -> ClaimResult:
    old, new = numbers.of("replay", "legacy"), numbers.of("replay", "pip430:expected")
    return ClaimResult(
        claim_verdict(new.misses < old.misses),
        f"replay: storage reads an entry {old.storage_reads_an_entry:.4f} with legacy, "
        f"{new.storage_reads_an_entry:.4f} with pip430:expected",
    )


def _check_over(numbers: PageNumbers) -> ClaimResult:
    inline, task = numbers.of("catch-up", "pip430:expected"), numbers.of("catch-up", "pip430:expected+task")
    return ClaimResult(
        claim_verdict(inline.over_bytes == 0, task.over_bytes <= task.capacity_bytes // 50),
        f"catch-up, capacity {inline.capacity_bytes} bytes: within adds {inline.over_bytes} bytes over it, in the "
        f"task every 10 ms alone {task.over_bytes}; one pass frees {inline.overshoot_bytes} bytes more than it must",
    )


def _check_examined(numbers: PageNumbers) -> ClaimResult:
    results = [numbers.of("catch-up", f"pip430:{flags}") for flags in ("plain+backlog", "expected", "expected+extend")]
    text = ", ".join(f"{each.policy} {each.examined_an_eviction or 0:.2f}" for each in results)
    most = 7.0
    return ClaimResult(
        claim_verdict(*((each.examined_an_eviction or 0) < most for each in results)), f"catch-up: {text}"
    )


CLAIMS: Final = (
    Claim(
        "the periodic task over all caches costs much with many topics; one queue does not",
        f"{PIP}, {PR}",
        _check_topics,
    ),
    Claim(
        "not evicting the oldest first over all ledgers costs hits", f"{PIP} (Motivation 1), {PR}", _check_oldest_first
    ),
    Claim("sparing entries that expect reads gains hits", f"{PIP} (Goals)", _check_expected),
    Claim("requeueing accessed entries makes the cache behave like LRU", f"{PIP} (Goals)", _check_like_lru),
    Claim("requeueing accessed entries gains hits where all consumers reconnect", f"{PIP} (Goals)", _check_reconnect),
    Claim(
        "catch-up reads of several subscriptions need fewer storage reads",
        f"{PIP} (Motivation 3), {PR}",
        _check_catch_up,
    ),
    Claim("replays of Key_Shared subscriptions need fewer storage reads", f"{PIP} (Motivation 3), {PR}", _check_replay),
    Claim("the size stays at the limit, also between passes", f"{PIP} (High Level Design)", _check_over),
    Claim(
        "requeueing is cheap: an eviction examines few entries (here: below 7, the extensions and one)",
        f"{PIP} (Alternatives 2)",
        _check_examined,
    ),
    Claim(
        "shared buffers hold more memory than is accounted",
        f"{PIP} (Note About Entry Cache Size)",
        None,
        "requests have no buffers; `entrycache trace simulate` models them",
    ),
    Claim("contention falls with one eviction thread", PR, None, "replays have one thread"),
    Claim("less memory pressure and garbage collection", f"{PIP} (Motivation 2)", None, "no JVM is modelled"),
    Claim(
        "lower network costs and load on BookKeeper",
        f"{PIP} (Motivation 3), {PR}",
        None,
        "storage reads are counted, but their cost is not modelled",
    ),
)


OTHERS: Final = ("fifo", "lru", "belady")
"""The policies beside which the defaults of each era are shown."""

PAIRS: Final = (("4.2", "4.0"), ("5.0", "4.0"), ("5.0", "4.2"), *((era, "fifo") for era in ERA_DEFAULTS))
"""The pairs of `compare_eras`: an era, and the era or policy that it is compared with."""


def render_eras(numbers: PageNumbers, large: bool) -> list[tuple[str, ...]]:
    """Return the rows of a table: requests, capacity, and the hit ratio of each era's defaults and of `OTHERS`."""
    rows = [("requests", "capacity", *(f"{era} `{policy}`" for era, policy in ERA_DEFAULTS.items()), *OTHERS)]
    for name, comparison in numbers.comparisons.items():
        results = [numbers.result(name, policy, large) for policy in (*ERA_DEFAULTS.values(), *OTHERS)]
        share = results[0].capacity_bytes / comparison.entry_bytes
        ratios = [f"{'at most ' * each.bound}{each.hit_ratio:.4f}" for each in results]
        rows.append((name, f"{share:.0%}", *ratios))
    return rows


def compare_eras(numbers: PageNumbers, era: str, other: str, large: bool) -> str:
    """Say in which requests an era's defaults hit more often than another era or policy, and by how much."""
    gains = {}
    for name in numbers.comparisons:
        own = numbers.result(name, ERA_DEFAULTS[era], large)
        gains[name] = own.hit_ratio - numbers.result(name, ERA_DEFAULTS.get(other, other), large).hit_ratio
    parts = []
    for word, sign in (("more", 1), ("fewer", -1)):
        ranked = sorted((name for name in gains if gains[name] * sign >= LEAST_GAIN), key=lambda n: -gains[n] * sign)
        names = ", ".join(f"{name} {gains[name] * 100:+.1f}" for name in ranked)
        parts.append(f"{word} hits in {len(ranked)}" + (f" ({names})" if ranked else ""))
    equal = sum(abs(gain) < LEAST_GAIN for gain in gains.values())
    return f"{era} beside {other}: {'; '.join(parts)}; alike in {equal}"


LEAST_GAIN: Final = 0.0005
"""The least difference of two hit ratios that counts as one: a twentieth of a percentage point."""
