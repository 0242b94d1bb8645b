"""`entrycache policies`: its output and files, and its messages about input that it cannot use."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from entrycache_cli.main import main
from entrycache_league import policies, report
from entrycache_league.claims import CLAIMS, compare_eras
from entrycache_league.page import read_numbers, render_page, write_page
from entrycache_league.policies import POLICIES
from entrycache_trace.generators.generate import generate
from tests.support import ROOT


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["league", *map(str, arguments)])


def test_the_line_of_the_readme_with_few_requests() -> None:
    """Run the line with few requests; `make test-all` runs it unchanged and compiled."""
    (line,) = re.findall(r"^\$ entrycache policies (.*?) *#", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    result = run(*line.split(), "--requests", 100)
    assert result.exit_code == 0, result.output
    families = {policy.partition(":")[0] for policy in POLICIES}
    assert families <= set(re.split(r"[^a-z0-9-]+", result.stdout))


def test_every_policy_is_printed_with_hits_and_misses(tmp_path: Path) -> None:
    result = run("--preset", "mixed-sizes", "--requests", 600, "--json", "--no-curve")
    assert result.exit_code == 0, result.output
    (league,) = json.loads(result.stdout)["leagues"]
    assert [line["policy"] for line in league["policies"]] == list(POLICIES)
    assert {line["hits"] + line["misses"] for line in league["policies"]} == {league["reads"]}
    assert [line["policy"] for line in league["policies"] if line["bound"]] == ["belady"]


@pytest.mark.long
def test_compiled_policies_count_as_plain_ones_do() -> None:
    line = ("--preset", "mixed-sizes", "--requests", "5000", "--json", "--no-curve")
    command = [sys.executable, "-m", "entrycache_cli", "league", *line]
    compiled = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (one,), (two,) = (json.loads(text)["leagues"] for text in (compiled, run(*line).stdout))
    for each in (*one["policies"], *two["policies"]):
        del each["nanos_a_request"]
    assert one == two


def test_a_recorded_trace_and_a_file_of_the_same_requests(tmp_path: Path) -> None:
    generate("catch-up-fanout", 1_500, 1, tmp_path / "trace")
    path = tmp_path / "x.oracleGeneral"
    written = run(tmp_path / "trace", "--write", path)
    assert written.exit_code == 0, written.output
    result = run(tmp_path / "trace", path, "--policy", "lru", "--policy", "fifo", "--no-curve", "--json")
    assert result.exit_code == 0, result.output
    trace, file = json.loads(result.stdout)["leagues"]
    assert trace["entries"] == file["entries"]
    assert file["reads"] == path.stat().st_size // 24 > trace["reads"]
    assert [each["hits"] for each in trace["policies"]] == [each["hits"] for each in file["policies"]]


def test_numbers_and_a_picture_are_written(tmp_path: Path) -> None:
    result = run(
        "--preset", "replay", "--requests", 100, "--policy", "segmented", "--policy", "belady", "--out", tmp_path
    )
    assert result.exit_code == 0, result.output
    assert "segmented:copy" in result.stdout
    assert (tmp_path / "replay.svg").read_text().startswith("<?xml")
    assert len(json.loads((tmp_path / "league.json").read_text())["leagues"][0]["curve"]) == 3 * 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--preset", "zipf", "--policy", "lruu"), "unknown policy 'lruu'"),
        (("--preset", "zipff"), "unknown preset 'zipff'"),
        ((), "nothing to replay"),
        (("nowhere",), "no such folder"),
        (("nowhere.oracleGeneral",), "no such file"),
        (("cut.oracleGeneral",), "47 bytes"),
        (("empty.oracleGeneral",), "size 0"),
        (("--preset", "zipf", "--preset", "replay", "--requests", "100", "--write", "x"), "2 were given"),
        (("--page", "x.md", "--preset", "zipf"), "--page covers all presets"),
        (("other.csv",), "expected a first line"),
        (("--preset", "zipf", "--capacity", "0"), "0 is not in the range"),
    ],
)
def test_unusable_input_is_one_line_and_exit_2(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    record = struct.pack("<IQIq", 1, 2, 3, -1)
    Path("cut.oracleGeneral").write_bytes((record * 2)[:-1])
    Path("other.csv").write_text("time,key\n1,2\n")
    Path("empty.oracleGeneral").write_bytes(record + struct.pack("<IQIq", 1, 2, 0, -1))
    result = run(*arguments)
    assert result.exit_code == 2
    assert message.lower() in result.stderr.lower()
    assert len(result.stderr.strip().splitlines()) == 1


NUMBERS = ROOT / "conformance/entrycache_dev/policy-comparison.json"


def test_the_committed_numbers_are_what_the_command_writes_and_the_page_shows(tmp_path: Path) -> None:
    numbers = read_numbers(NUMBERS)
    write_page(numbers, tmp_path / "numbers.json")
    assert [path.name for path in tmp_path.iterdir()] == ["numbers.json"]
    assert (tmp_path / "numbers.json").read_bytes() == NUMBERS.read_bytes()
    page = render_page(numbers)
    assert all(f"## {name}\n" in page for name in numbers.comparisons)


def test_a_chart_has_at_most_eight_lines_and_a_legend_on_white(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    comparison = read_numbers(NUMBERS).comparisons["zipf"]
    every = list(dict.fromkeys(result.policy for result in comparison.curve))
    assert len(every) > 8
    report.draw_curves(comparison, tmp_path / "zipf.svg")
    chart = (tmp_path / "zipf.svg").read_text("utf-8")
    visible = [policy for policy in every if re.search(rf">{re.escape(policy)}(, | \(|<)", chart)]
    assert visible == report.choose_lines(every)
    assert len(visible) == 8
    assert {*policies.ERA_DEFAULTS.values(), "belady", "lru"} <= set(visible)
    assert ">zipf (8 of 24 policies)<" in chart
    assert re.search(r'id="patch_1">\s*<path d="[^"]*"\s*style="fill: #ffffff"', chart)
    legend = re.findall(r'"font-size: (\d+)px[^"]*text-anchor: start"', chart)
    assert len(legend) == 8
    assert min(map(int, legend)) >= 10
    (width,) = re.findall(r'<svg [^>]*width="([\d.]+)pt"', chart)
    assert float(width) <= 600, "a page shrinks it, and the legend with it"
    assert report.choose_lines(["fifo", "lru"]) == ["fifo", "lru"]


def test_an_era_is_said_to_win_and_to_lose() -> None:
    numbers = read_numbers(NUMBERS)
    catch_up, reconnect = (numbers.comparisons[name] for name in ("catch-up", "reconnect"))
    same = replace(numbers, comparisons={"one": catch_up, "two": reconnect, "three": catch_up})
    assert (
        compare_eras(same, "4.2", "4.2", large=False) == "4.2 beside 4.2: more hits in 0; fewer hits in 0; alike in 3"
    )
    other = compare_eras(replace(numbers, comparisons={"one": catch_up}), "4.2", "4.0", large=False)
    assert re.fullmatch(r"4\.2 beside 4\.0: more hits in 0; fewer hits in 1 \(one -2\.\d\); alike in 0", other)
    back = compare_eras(replace(numbers, comparisons={"one": catch_up}), "4.0", "pip430:expected+extend", large=False)
    assert "more hits in 1 (one +2." in back


def test_the_capacity_does_not_limit_pulsar_s_caches_in_requests_of_other_people() -> None:
    numbers = read_numbers(NUMBERS)
    for name in ("cloudPhysicsIO", "twitter_cluster52"):
        for policy in policies.ERA_DEFAULTS.values():
            assert numbers.of(name, policy).hits == numbers.largest(name, policy).hits
        assert numbers.of(name, "fifo").hits < numbers.largest(name, "fifo").hits


def test_a_claim_is_confirmed_only_by_the_pair_that_it_names() -> None:
    numbers = read_numbers(NUMBERS)
    (topics, *_) = CLAIMS
    assert topics.check is not None
    assert topics.check(numbers).verdict == "mixed"
    dear = [replace(cost, nanos=cost.nanos * 100) if cost.policy == "legacy" else cost for cost in numbers.costs]
    assert topics.check(replace(numbers, costs=dear)).verdict == "confirmed"
    cheap = [replace(cost, nanos=1) if cost.policy == "legacy" else cost for cost in numbers.costs]
    assert topics.check(replace(numbers, costs=cheap)).verdict == "refuted"
