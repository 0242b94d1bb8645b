"""What was said of the caches of Pulsar, each with the numbers of a league that bear on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from entrycache_league.cost import Cost
from entrycache_league.league import League
from entrycache_league.replay import Measured

PIP: Final = "PIP-430"
PR: Final = "apache/pulsar pull request 24363"


@dataclass(frozen=True)
class Numbers:
    """The leagues of the presets by name, and the costs."""

    leagues: Mapping[str, League]
    costs: Sequence[Cost]

    def of(self, preset: str, policy: str) -> Measured:
        """The table's line of a policy."""
        return next(each for each in self.leagues[preset].table if each.policy == policy)

    def best(self, preset: str, policy: str) -> Measured:
        """A policy at the largest capacity of the curve."""
        return [each for each in self.leagues[preset].curve if each.policy == policy][-1]

    def cost(self, policy: str) -> list[Cost]:
        """The costs of a policy, from few to many topics."""
        return [each for each in self.costs if each.policy == policy]


@dataclass(frozen=True)
class Held:
    """What the numbers say: whether the claim is confirmed, refuted or only in part so, and the numbers."""

    verdict: str
    numbers: str


@dataclass(frozen=True)
class Claim:
    """A claim, where it stands, and how it is held to the numbers; None: the model cannot test it."""

    text: str
    source: str
    hold: Callable[[Numbers], Held] | None
    why_not: str = ""


def verdict(*confirming: bool) -> str:
    """Confirmed by all numbers, refuted by all, or mixed."""
    return "confirmed" if all(confirming) else "mixed" if any(confirming) else "refuted"


def _topics(numbers: Numbers) -> Held:
    old, new = numbers.cost("legacy"), numbers.cost("pip430:expected")
    return Held(
        verdict(old[-1].nanos > 2 * old[0].nanos, new[-1].nanos < 10 * new[0].nanos, old[-1].looks > 2 * old[0].looks),
        f"from {old[0].topics} to {old[-1].topics:,} topics a request of legacy costs "
        f"{old[-1].nanos / old[0].nanos:.1f} times as much and looks at {old[-1].looks:.1f} instead of "
        f"{old[0].looks:.2f}; of pip430:expected {new[-1].nanos / new[0].nanos:.1f} times, {new[-1].looks:.2f} "
        f"instead of {new[0].looks:.2f}",
    )


def _pairs(numbers: Numbers, presets: Sequence[str], old: str, new: str) -> Held:
    told = [(name, numbers.of(name, old), numbers.of(name, new)) for name in presets]
    text = "; ".join(f"{name}: {old} {a.hit_ratio:.4f}, {new} {b.hit_ratio:.4f}" for name, a, b in told)
    return Held(verdict(*(b.hit_ratio > a.hit_ratio for _, a, b in told)), f"hit ratios: {text}")


def _oldest_first(numbers: Numbers) -> Held:
    return _pairs(numbers, ("mixed-sizes", "tail-fanout", "reconnect"), "legacy", "pip430:plain")


def _expected(numbers: Numbers) -> Held:
    return _pairs(numbers, ("replay", "mixed-sizes", "tail-fanout"), "pip430:plain", "pip430:expected")


def _like_lru(numbers: Numbers) -> Held:
    plain, extend = numbers.of("zipf", "pip430:plain+backlog"), numbers.of("zipf", "pip430:extend+backlog")
    fifo, lru = numbers.of("zipf", "fifo"), numbers.of("zipf", "lru")
    return Held(
        verdict(abs(extend.hits - lru.hits) < abs(plain.hits - lru.hits), extend.hits > plain.hits),
        f"zipf: with extension {extend.hit_ratio:.4f}, without {plain.hit_ratio:.4f}; lru {lru.hit_ratio:.4f}, "
        f"fifo {fifo.hit_ratio:.4f} (no time to live)",
    )


def _reconnect(numbers: Numbers) -> Held:
    pairs = [
        (flags, numbers.of("reconnect", f"pip430:{flags[0]}"), numbers.of("reconnect", f"pip430:{flags[1]}"))
        for flags in (("expected", "expected+extend"), ("plain+backlog", "extend+backlog"))
    ]
    text = "; ".join(f"{f[0]} {a.hit_ratio:.4f}, {f[1]} {b.hit_ratio:.4f}" for f, a, b in pairs)
    return Held(verdict(*(b.hits > a.hits for _, a, b in pairs)), f"reconnect: {text}")


def _catch_up(numbers: Numbers) -> Held:
    names = ("legacy", "legacy:backlog", "pip430:expected")
    small = {name: numbers.of("catch-up", name) for name in names}
    large = {name: numbers.best("catch-up", name) for name in names}

    def told(of: Mapping[str, Measured]) -> str:
        size = of["legacy"].capacity_bytes / 2**20
        return f"{size:.1f} MiB: " + ", ".join(f"{name} {of[name].storage_reads_an_entry:.2f}" for name in names)

    better = [of["pip430:expected"].misses < of[name].misses for of in (small, large) for name in names[:2]]
    return Held(verdict(*better), f"storage reads an entry, {told(small)}; {told(large)}")


def _replay(numbers: Numbers) -> Held:
    old, new = numbers.of("replay", "legacy"), numbers.of("replay", "pip430:expected")
    return Held(
        verdict(new.misses < old.misses),
        f"replay: storage reads an entry {old.storage_reads_an_entry:.4f} with legacy, "
        f"{new.storage_reads_an_entry:.4f} with pip430:expected",
    )


def _over(numbers: Numbers) -> Held:
    inline, task = numbers.of("catch-up", "pip430:expected"), numbers.of("catch-up", "pip430:expected+task")
    return Held(
        verdict(inline.over_bytes == 0, task.over_bytes <= task.capacity_bytes // 50),
        f"catch-up, capacity {inline.capacity_bytes} bytes: within adds {inline.over_bytes} bytes over it, in the "
        f"task every 10 ms alone {task.over_bytes}; one pass frees {inline.overshoot_bytes} bytes more than it must",
    )


def _looks(numbers: Numbers) -> Held:
    told = [numbers.of("catch-up", f"pip430:{flags}") for flags in ("plain+backlog", "expected", "expected+extend")]
    text = ", ".join(f"{each.policy} {each.looked_an_evicted or 0:.2f}" for each in told)
    most = 7.0
    return Held(verdict(*((each.looked_an_evicted or 0) < most for each in told)), f"catch-up: {text}")


CLAIMS: Final = (
    Claim("the periodic task over all caches costs much with many topics; one queue does not", f"{PIP}, {PR}", _topics),
    Claim("not evicting the oldest first over all ledgers costs hits", f"{PIP} (Motivation 1), {PR}", _oldest_first),
    Claim("sparing entries that expect reads gains hits", f"{PIP} (Goals)", _expected),
    Claim("extending what was accessed makes the cache behave like LRU", f"{PIP} (Goals)", _like_lru),
    Claim("extending what was accessed gains hits where all consumers reconnect", f"{PIP} (Goals)", _reconnect),
    Claim("catch-up reads of several subscriptions need fewer storage reads", f"{PIP} (Motivation 3), {PR}", _catch_up),
    Claim("replays of Key_Shared subscriptions need fewer storage reads", f"{PIP} (Motivation 3), {PR}", _replay),
    Claim("the size stays at the limit, also between passes", f"{PIP} (High Level Design)", _over),
    Claim("requeueing is cheap: an eviction looks at few entries (here: below 7, the extensions and one)",
          f"{PIP} (Alternatives 2)", _looks),
    Claim("shared buffers hold more memory than is accounted", f"{PIP} (Note About Entry Cache Size)", None,
          "requests have no buffers; `entrycache trace simulate` models it (simulate.md)"),
    Claim("contention falls with one eviction thread", PR, None, "replays have one thread"),
    Claim("less memory pressure and garbage collection", f"{PIP} (Motivation 2)", None, "no JVM is modelled"),
    Claim("lower network costs and load on BookKeeper", f"{PIP} (Motivation 3), {PR}", None,
          "storage reads are counted, what they cost is not modelled"),
)  # fmt: skip
