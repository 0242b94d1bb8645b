"""The cost of recording for a real broker: its CPU with the recorder and without, in interleaved rounds.

Run it as `python -m entrycache_dev.bench.pulsar_recorder --rounds 5`. Exit 1: the median is above the target.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.brokers.jars import BrokerJars, build_broker_jars
from entrycache_conformance.brokers.pulsar import BROKER_PLANS, BrokerPlan, run_clients, run_standalone
from entrycache_conformance.java.build import find_java
from entrycache_protocol import errors, files

TARGET: Final = 1.10
"""The largest allowed ratio of a broker's CPU with the recorder and without."""


class Round(NamedTuple):
    """The CPU seconds of two brokers, from their start until the clients have all messages."""

    without_seconds: float
    with_seconds: float
    lines_bytes: int
    """The number of bytes that the recorder wrote."""

    @property
    def ratio(self) -> float:
        """The CPU seconds with the recorder divided by those without."""
        return self.with_seconds / self.without_seconds


def measure_recorder(rounds: int, release: str, plan: BrokerPlan, say: Callable[[str], None]) -> list[Round]:
    """Run pairs of brokers; in every other pair the recorded broker runs first.

    Raises:
        UsageError: a broker or its clients fail.
        MissingPrerequisite: there is no Java, no Maven, or a jar cannot be had.
    """
    java = find_java(17).program
    jars = build_broker_jars("pulsar", release)
    results = []
    for number in range(rounds):
        order = (False, True) if number % 2 == 0 else (True, False)
        seconds = {recorded: _measure_broker(java, jars, plan, recorded) for recorded in order}
        results.append(Round(seconds[False][0], *seconds[True]))
        say(f"round {number + 1}: {results[-1].without_seconds:.2f} s without, {results[-1].with_seconds:.2f} s with")
    return results


def _measure_broker(java: str, jars: BrokerJars, plan: BrokerPlan, recorded: bool) -> tuple[float, int]:
    """Return the CPU seconds of one broker and the bytes that its recorder wrote."""
    with files.scratch_folder() as folder:
        trace = folder / "recorded"
        agent = f"{jars.recorder}={trace},broker=b" if recorded else None
        with run_standalone(java, jars, plan, folder, agent, lambda line: None) as broker:
            run_clients(java, jars, plan, broker.addresses, folder, lambda line: None)
            seconds = broker.cpu_seconds()
            broker.stop()
        return seconds, sum(part.stat().st_size for part in Path(trace).glob("broker=*/part-*"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the ratio; return 1 if it misses the target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--release", default="4.2.4")
    parser.add_argument("--messages", type=int, default=BROKER_PLANS["full-rate"].messages)
    options = parser.parse_args(arguments)
    try:
        plan = replace(BROKER_PLANS["full-rate"], messages=options.messages)
        rounds = measure_recorder(options.rounds, options.release, plan, lambda line: print(line, flush=True))
    except errors.EntrycacheError as error:
        print(f"entrycache: {error}", file=sys.stderr)
        return error.exit_code
    ratio = statistics.median(each.ratio for each in rounds)
    print(f"broker CPU with the recorder / without: median {ratio:.3f} of {len(rounds)} rounds (target {TARGET:g})")
    return 1 if ratio > TARGET else 0


if __name__ == "__main__":
    sys.exit(main())
