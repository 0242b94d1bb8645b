"""All policies over the same requests: a table at one capacity, and miss ratios over a range of capacities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from entrycache_league.policies import Broker
from entrycache_league.replay import Measured, replay
from entrycache_league.requests import Requests

SHARES = (0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
"""The capacities of a curve, as shares of the bytes of all entries."""

TABLE_SHARE = 0.05


@dataclass(frozen=True)
class League:
    """The policies over some requests; `curve` has those of the table at other capacities, policy by policy."""

    name: str
    requests: int
    reads: int
    entries: int
    entry_bytes: int
    seconds: float
    table: tuple[Measured, ...]
    curve: tuple[Measured, ...]


def capacities(requests: Requests, shares: Sequence[float] = SHARES) -> list[int]:
    """Capacities that are so large a share of all bytes: whole entries where these have one size."""
    size = max(1, int(requests.sizes[0])) if requests.one_size else 1
    return [max(1, int(requests.entry_bytes * share) // size) * size for share in shares]


def play_league(
    requests: Requests,
    policies: Sequence[str],
    capacity_bytes: int | None = None,
    curve: bool = True,
    broker: Broker = Broker(),  # noqa: B008
    progress: Callable[[str], None] = lambda text: None,
) -> League:
    """Replay the requests through each of the policies; `capacity_bytes` None: a twentieth of all bytes."""
    asked = capacity_bytes or capacities(requests, (TABLE_SHARE,))[0]
    table: list[Measured] = []
    points: list[Measured] = []
    for policy in policies:
        progress(f"{requests.name}: {policy}")
        table.append(replay(requests, policy, asked, broker))
        if curve:
            points += [replay(requests, policy, size, broker) for size in capacities(requests)]
    return League(
        name=requests.name,
        requests=len(requests.kinds),
        reads=requests.reads,
        entries=len(requests.sizes),
        entry_bytes=requests.entry_bytes,
        seconds=float(requests.times[-1] - requests.times[0]) / 1e9,
        table=tuple(table),
        curve=tuple(points),
    )
