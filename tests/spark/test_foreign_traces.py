"""Every backend refuses a trace whose rows belong to another system than its metadata say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from entrycache_cli.main import main
from entrycache_protocol.errors import UsageError
from entrycache_spark.common.results import AuditResult
from entrycache_spark.common.system import AUDITED, foreign_events
from entrycache_spark.folders import audit_folder
from tests.support.traces import plant
from tests.support.traces.checker_runs import audit_by_checker

BACKENDS: dict[str, Callable[[Path], AuditResult]] = {
    "local": lambda path: audit_folder(path, "local"),
    "checker": audit_by_checker,
    "replay": lambda path: audit_folder(path, "replay"),
}
PRESETS = {
    "pulsar-pip430": "catch-up-fanout",
    "kafka-streams": "windowed-aggregation",
    "pulsar-legacy": "unequal-topics",
    "pulsar-segmented": "ring-copies",
}


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[plant.Row]]:
    """Return the rows of a conforming broker of each system."""
    folder = tmp_path_factory.mktemp("honest")
    return {
        name: next(iter(plant.honest(folder / name, 600, 1, preset=preset).values()))
        for name, preset in PRESETS.items()
    }


@pytest.mark.long
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("said", PRESETS)
def test_rows_of_another_system_are_refused(
    tmp_path: Path, traces: dict[str, list[plant.Row]], said: str, backend: str
) -> None:
    """Only `pulsar-pip430` has every event of `pulsar-legacy`, so such rows are no proof of another system."""
    for system, rows in traces.items():
        if system != said and (said, system) != ("pulsar-pip430", "pulsar-legacy"):
            own = [*plant.renamed(traces[said], "a"), *plant.renamed(rows, "b")]
            trace = plant.write(tmp_path / system, own, system=said)
            with pytest.raises(UsageError, match=f"broker 'b', seq .* is an event of .*{system}") as refused:
                BACKENDS[backend](trace)
            assert str(refused.value).endswith(f"; the metadata say that the trace is of {said}")
            assert "\n" not in str(refused.value)


@pytest.mark.long
@pytest.mark.parametrize(
    ("system", "backend"),
    [*((system, "local") for system in PRESETS), ("pulsar-pip430", "checker"), ("pulsar-pip430", "replay")],
)
def test_rows_without_their_cache_are_refused(
    tmp_path: Path, traces: dict[str, list[plant.Row]], system: str, backend: str
) -> None:
    """Without the cache, entries of several caches share a position, and innocent rows would be accused."""
    rows = plant.renamed(traces[system], "b")
    at = next(at for at, row in enumerate(rows) if row["op"] in {"INSERT", "PUT"})
    trace = plant.write(tmp_path / system, [*rows[:at], {**rows[at], "cache": None}, *rows[at + 1 :]], system=system)
    with pytest.raises(UsageError, match=f"broker 'b', seq {rows[at]['seq']}: .* without cache; ") as refused:
        BACKENDS[backend](trace)
    assert "\n" not in str(refused.value)


def test_the_command_refuses_them_in_one_line(tmp_path: Path, traces: dict[str, list[plant.Row]]) -> None:
    trace = plant.write(tmp_path / "trace", traces["kafka-streams"])
    arguments = ["audit", str(trace), "--backend", "local", "--out", str(tmp_path / "out")]
    for more in ((), ("--new-only",)):
        done = CliRunner().invoke(main, [*arguments, *more])
        assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
        assert "is an event of kafka-streams" in done.stderr
    assert not list(tmp_path.glob("out/**/*.*"))


def test_no_event_of_a_system_is_foreign_to_it() -> None:
    for name in AUDITED:
        foreign = foreign_events(name)
        for op, event in AUDITED[name].format.by_op.items():
            assert op not in foreign or (foreign[op] and foreign[op].isdisjoint(event.causes))
    assert foreign_events("pulsar-pip430")["PASS_BEGIN"] == {"TURN"}
    assert "FLUSH" in foreign_events("pulsar-segmented")
