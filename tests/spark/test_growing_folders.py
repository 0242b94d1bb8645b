"""An audit of a growing folder judges nothing twice; wherever it is killed, it loses and repeats nothing."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from entrycache_cli.main import main
from entrycache_spark import folders
from entrycache_spark.common.results import AuditResult, Verdict
from entrycache_spark.folders import MAX_LIVE_SLOTS, VIOLATIONS_NAME, audit_folder
from tests.support.traces import plant

Say = Callable[[str], None]


@pytest.fixture
def brokers(tmp_path: Path) -> Path:
    """Return four brokers; two of them have a wrong sum."""
    rows = plant.honest(tmp_path / "honest", 300, 4)["broker-0"]
    every = []
    for name in ("a", "b.c", "d", "e"):
        own = plant.renamed(rows, name)
        if name in ("b.c", "d"):
            plant.wrong_sum(own, random.Random(name))
        every += own
    return plant.write(tmp_path / "all", every)


def judge(directory: Path, out: Path, say: Say = lambda _: None, rules: tuple[str, ...] = ()) -> AuditResult:
    return folders.audit_new_brokers(directory, "local", "", rules, out, max_live_slots=MAX_LIVE_SLOTS, progress=say)


def stored_violations(out: Path) -> list[tuple[str, str, int]]:
    rows = pq.read_table(out / VIOLATIONS_NAME).to_pylist()
    return [(row["rule"], row["broker"], row["seq"]) for row in rows]


def places(result: AuditResult) -> list[tuple[str, str, int]]:
    return [(one.rule, one.broker, one.seq) for one in result.violations]


@pytest.mark.long
def test_unchanged_brokers_are_not_judged_again(brokers: Path, tmp_path: Path) -> None:
    growing_, out = tmp_path / "growing", tmp_path / "out"
    growing_.mkdir()
    shutil.copy(brokers / "_entrycache.json", growing_)
    every: list[tuple[str, str, int]] = []
    for name in ("a", "b.c", "d", "e"):
        shutil.copytree(brokers / f"broker={name}", growing_ / f"broker={name}")
        result = judge(growing_, out)
        assert result.judged == (name,)
        assert {one.broker for one in result.violations} <= {name}
        assert result.exit_code == int(name in ("b.c", "d"))
        every += places(result)
    whole = audit_folder(brokers, "local")
    assert sorted(every) == sorted(stored_violations(out)) == sorted(places(whole))
    again = judge(growing_, out)
    assert (again.judged, again.violations, again.exit_code) == ((), (), 0)
    assert (again.rules, again.brokers) == (whole.rules, whole.brokers)


@pytest.mark.long
def test_a_broker_with_more_events_is_judged_again_without_repeating_violations(brokers: Path, tmp_path: Path) -> None:
    judge(brokers, tmp_path / "out")
    part = brokers / "broker=d" / "part-00000.parquet"
    rows = pq.read_table(part)
    cut = next(at for at, op in enumerate(rows["op"].to_pylist()) if at > rows.num_rows // 2 and op == "INSERT")
    pq.write_table(rows.slice(0, cut), part)
    assert judge(brokers, tmp_path / "out").judged == ("d",)
    changed = rows.slice(cut).to_pylist()
    changed[0]["bytes_after"] += 1
    pq.write_table(rows.slice(0, 0), brokers / "broker=d" / "part-00002.parquet")
    pq.write_table(type(rows).from_pylist(changed, rows.schema), brokers / "broker=d" / "part-00001.parquet")
    more = judge(brokers, tmp_path / "out")
    assert more.judged == ("d",) and more.exit_code == 1
    assert {one.seq for one in more.violations} >= {changed[0]["seq"]}
    assert len(stored_violations(tmp_path / "out")) == len(set(stored_violations(tmp_path / "out")))


@pytest.mark.long
def test_a_kill_between_batches_loses_and_repeats_nothing(
    brokers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "MAX_BATCH_ROWS", 1)
    whole, out = places(audit_folder(brokers, "local")), tmp_path / "out"
    for left in (4, 3, 2, 1):
        batches: list[str] = []

        def killed(text: str, batches: list[str] = batches) -> None:
            batches += [text] if text.startswith("judged") else []
            if len(batches) == 2:
                raise KeyboardInterrupt

        if left > 1:
            with pytest.raises(KeyboardInterrupt):
                judge(brokers, out, killed)
            assert batches[0] == f"judged {4 - left} of 4 brokers"
            assert not (out / VIOLATIONS_NAME).exists()
        else:
            last = judge(brokers, out, killed)
            assert len(last.judged or ()) == 1 and places(last) == whole == stored_violations(out)


SMALL_BATCHES = """
from entrycache_cli.main import main
from entrycache_spark import folders
folders.MAX_BATCH_ROWS = 1
main()
"""


@pytest.mark.long
def test_a_killed_process_leaves_a_state_to_continue_from(brokers: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["audit", str(brokers), "--backend", "local", "--new-only", "--json", "--out", str(out)]
    run = subprocess.Popen([sys.executable, "-c", SMALL_BATCHES, *arguments], stdout=subprocess.PIPE, text=True)
    while not count_stored(out) and run.poll() is None:
        time.sleep(0.001)
    run.send_signal(signal.SIGKILL)
    assert run.communicate()[0] == "" and run.returncode == -signal.SIGKILL and not (out / VIOLATIONS_NAME).exists()
    before = count_stored(out)
    assert 1 <= before <= 4
    last = subprocess.run(
        [sys.executable, "-c", SMALL_BATCHES, *arguments], capture_output=True, text=True, check=False
    )
    assert last.returncode == 1, last.stderr
    assert len(json.loads(last.stdout)["judged"]) == 4 - before
    assert stored_violations(out) == places(audit_folder(brokers, "local"))


def count_stored(out: Path) -> int:
    return len(list(out.glob("judged/broker=*/found.json")))


def test_other_rules_are_judged_again(brokers: Path, tmp_path: Path) -> None:
    assert judge(brokers, tmp_path / "out", rules=("R-STATE-2",)).judged == ("a", "b.c", "d", "e")
    result = judge(brokers, tmp_path / "out")
    assert result.judged == ("a", "b.c", "d", "e") and result.rules["R-STATE-1"] is Verdict.VIOLATES


def change_finding(name: str, value: object) -> Callable[[dict[str, Any]], None]:
    """Return a change of one value in the stored finding of R-STATE-1."""

    def change(stored: dict[str, Any]) -> None:
        stored["findings"]["R-STATE-1"][name] = value

    return change


BROKEN_FINDINGS: Final[dict[str, Callable[[dict[str, Any]], object]]] = {
    "a text for a count": change_finding("checked", "5"),
    "a truth for a count": change_finding("checked", True),
    "a negative count": change_finding("checked", -1),
    "a text for notes": change_finding("undecided", "note"),
    "a list for a note": change_finding("undecided", [["note"]]),
    "a number for a difference": change_finding("differences", [1]),
    "a violation without life": change_finding("violations", [[1, "expected", "observed", [1]]]),
    "a text for seqs": change_finding("violations", [[1, None, "expected", "observed", "12"]]),
    "a seq of more than 64 bits": change_finding("violations", [[1 << 63, None, "expected", "observed", [1]]]),
    "a finding that is a list": lambda stored: stored["findings"].update({"R-STATE-1": []}),
    "no finding of a rule": lambda stored: stored["findings"].pop("R-STATE-1"),
    "a finding of another rule": lambda stored: stored["findings"].update({"R-X": stored["findings"]["R-STATE-1"]}),
    "findings that are a list": lambda stored: stored.update(findings=[]),
    "a question that is a text": lambda stored: stored.update(asked="all"),
    "no broker": lambda stored: stored.pop("broker"),
}


def refused(brokers: Path, out: Path, name: str) -> None:
    """Check that the command refuses a file of state in one line, reports nothing, and changes nothing."""
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for more in ((), ("--json",)):
        arguments = ["audit", str(brokers), "--backend", "local", "--new-only", "--out", str(out), *more]
        done = CliRunner().invoke(main, arguments)
        assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.output
        assert f"{name}: is not what an audit wrote (" in done.stderr and "; remove it to " in done.stderr
    assert before == {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}


@pytest.mark.long
def test_broken_stored_findings_are_refused(brokers: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    judge(brokers, out)
    path = out / "judged" / "broker=a" / "found.json"
    written = path.read_bytes()
    for change in BROKEN_FINDINGS.values():
        stored = json.loads(written)
        change(stored)
        path.write_text(json.dumps(stored))
        refused(brokers, out, "found.json")
    for raw in (b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b"NaN", random.Random(1).randbytes(99)):
        path.write_bytes(raw)
        refused(brokers, out, "found.json")
    path.unlink()
    assert judge(brokers, out).judged == ("a",)


def test_broken_reported_violations_are_refused(brokers: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    judge(brokers, out)
    path = out / VIOLATIONS_NAME
    written, table = path.read_bytes(), pq.read_table(path)
    for raw in (b"", random.Random(1).randbytes(99), written[:-1], written[: len(written) // 2]):
        path.write_bytes(raw)
        refused(brokers, out, VIOLATIONS_NAME)
    rows = table.to_pylist()
    tables = [
        table.drop_columns(["seqs"]),
        pa.table({**table.to_pydict(), "seq": ["x"] * len(rows)}),
        pa.table({**table.to_pydict(), "seq": pa.array([None] * len(rows), pa.int64())}),
        pa.table({**table.to_pydict(), "seqs": ["x"] * len(rows)}),
        pa.table({"other": [1]}),
    ]
    for other in tables:
        pq.write_table(other, path)
        refused(brokers, out, VIOLATIONS_NAME)
    path.unlink()
    assert len(judge(brokers, out).violations) == len(rows) > 0


@pytest.mark.long
def test_the_command(brokers: Path, tmp_path: Path) -> None:
    arguments = ["audit", str(brokers), "--backend", "local", "--new-only", "--out", str(tmp_path / "out")]
    first = CliRunner().invoke(main, arguments)
    assert first.exit_code == 1 and "4 of 4 brokers judged anew" in first.stdout
    again = CliRunner().invoke(main, [*arguments, "--json"])
    answer = json.loads(again.stdout)
    assert (again.exit_code, answer["judged"], answer["violations"]) == (0, [], 0)
    assert answer["brokers"]["d"]["R-STATE-1"] == "violates"
    away = CliRunner().invoke(main, ["audit", brokers.as_uri(), "--new-only"])
    assert away.exit_code == 2 and "--new-only is for a folder of this machine" in away.stderr
