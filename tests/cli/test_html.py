"""The HTML page needs no other file, and nothing that it shows is mark-up or code."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from entrycache_cli.main import main
from entrycache_cli.report import differences
from entrycache_cli.report.audit import violations_with_rows
from entrycache_cli.report.html import render_html
from entrycache_spark.common.results import Violation
from entrycache_spark.common.rule_files import named_columns
from entrycache_trace import inspect
from tests.support import ROOT
from tests.support.nasty import NASTY
from tests.support.runs import failure, result
from tests.support.traces import plant

AUDITED = {"schema": 1, "rules": {"R-EVICT-8": "violates"}, "violations": 1}
CODE = "</script><script>window.ran = true</script><img src=x onerror='window.ran = true'>"


class Page(HTMLParser):
    """The elements of a page, and the text of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.within: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] in {"script", "style"} and data.strip():
            self.within.append((self.tags[-1][0], data))


def model(page: Page) -> Any:
    """Return the data that the script of the page receives."""
    return json.loads(next(text for tag, text in page.within if tag == "script" and text.startswith("{")))


def violation(text: str) -> dict[str, Any]:
    """Return a violation of an audit with its rows, as a page receives it."""
    rows = [["6", "HIT", text], ["7", "EVICT", text]]
    words = {"rule": "R-EVICT-8", "broker": text, "expected": text, "observed": text}
    lines = {"columns": ["seq", "op", text], "rows": rows, "bad": 1, "bytes": [[6, 10], [7, 4]], "needed": 2}
    return {**words, **lines, "seq": 7, "trigger": 8, "target": None, "limit": 9}


def results_of(text: str) -> list[dict[str, Any]]:
    sums = {"violation_counts": {text: {"R-EVICT-8": 1}}, "brokers": {text: AUDITED["rules"]}, "notes": [text]}
    return [
        result(text, [failure("R-EXPIRE-1", text)], skipped=[{"what": text, "reason": text}]),
        {**AUDITED, **sums, "engine": text, "shown": [violation(text)]},
    ]


def test_equal_input_gives_the_same_bytes() -> None:
    assert render_html(results_of("mine")) == render_html(results_of("mine"))


@pytest.mark.parametrize("text", [*NASTY, CODE, "{{ 7 * 7 }}"])
def test_no_text_makes_an_element(text: str) -> None:
    page, plain = Page(render_html(results_of(text))), Page(render_html(results_of("mine")))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert [attributes for _, attributes in page.tags] == [attributes for _, attributes in plain.tags]
    texts = model(page)["texts"]
    assert all(line.isprintable() for one in texts for line in one.split("\n"))


def test_nothing_is_asked_of_a_network_and_only_its_own_script_runs() -> None:
    text = render_html(results_of("mine"))
    page = Page(text)
    assert not any({"src", "href"} & attributes.keys() for _, attributes in page.tags)
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert not re.search(r"@import|url\(|innerHTML|insertAdjacentHTML|document\.write|eval\(", text)
    (policy,) = (str(one["content"]) for tag, one in page.tags if tag == "meta" and "http-equiv" in one)
    assert policy.startswith("default-src 'none';")
    own = [(tag, data) for tag, data in page.within if not data.startswith("{")]
    assert [tag for tag, _ in own] == ["style", "script"]
    for _, data in own:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(data.encode()).digest()).decode()}'" in policy


def texts_of(content: Any, value: Any) -> Any:
    """Return data of the page with the texts in place of their numbers."""
    return [texts_of(content, one) for one in value] if isinstance(value, list) else content["texts"][value]


def states(content: Any, column: int = 0) -> dict[str, str]:
    """Return the state of each rule of a column."""
    cells = zip(content["rules"], content["columns"][column]["rules"], strict=True)
    return {texts_of(content, rule["id"]): texts_of(content, cell[0]) for rule, cell in cells if cell}


def test_the_grid_holds_every_rule_and_every_subject() -> None:
    content = model(Page(render_html(results_of("mine"))))
    assert texts_of(content, [rule["id"] for rule in content["rules"]]) == [
        *("R-EVICT-2", "R-EVICT-8", "R-EXPIRE-1", "R-STATE-1")
    ]
    assert states(content) == {"R-EVICT-2": "not reached", "R-EXPIRE-1": "violates", "R-STATE-1": "conforms"}
    assert states(content, 1) == {"R-EVICT-8": "violates"}


def test_not_reached_is_not_nothing_checked() -> None:
    """Check that a rule behind the end of a search differs from one that fired too rarely."""
    whole, broken = result("mine", []), result("mine", [failure("R-EXPIRE-1", "x")])
    for value in (whole, broken):
        value["rules"] = {"R-EXPIRE-3": {"fired": 0}}
    assert states(model(Page(render_html([whole])))) == {
        **{"R-EVICT-2": "nothing-checked", "R-EXPIRE-3": "nothing-checked"},
        **{"R-EXPIRE-1": "conforms", "R-STATE-1": "conforms"},
    }
    assert states(model(Page(render_html([broken])))) == {
        **{"R-EVICT-2": "not reached", "R-EXPIRE-3": "not reached"},
        **{"R-EXPIRE-1": "violates", "R-STATE-1": "conforms"},
    }
    value = {**broken, "rules": {rule: {"fired": 0} for rule in ("R-CURSOR-9", "R-INSERT-7", "R-EXPIRE-3")}}
    assert {states(model(Page(render_html([value]))))[rule] for rule in ("R-CURSOR-9", "R-INSERT-7")} == {
        "nothing-checked"  # its level was not played; it needs a variant
    }
    value["levels"] = {"queue": {**broken["levels"]["queue"], "missing": ["expire"]}}
    assert states(model(Page(render_html([value]))))["R-EXPIRE-3"] == "nothing-checked"
    rules = {"R-STATE-1": {"fired": 1, "verdict": "nothing-checked"}, "R-EXPIRE-1": {"fired": 0, "verdict": "violates"}}
    broken["levels"]["reads"] = {**broken["levels"]["queue"], "rules": rules}
    page = model(Page(render_html([broken])))
    assert states(page)["R-STATE-1"] == "conforms in part"
    index = texts_of(page, [rule["id"] for rule in page["rules"]]).index("R-STATE-1")
    levels = page["columns"][0]["rules"][index][1]
    assert [[*texts_of(page, level[:2]), level[2]] for level in levels] == [
        ["queue", "conforms", 9],
        ["reads", "not reached", 1],
    ]


def test_a_rule_has_its_sentence_and_linked_source() -> None:
    content = model(Page(render_html(results_of("mine"))))
    (rule,) = (rule for rule in content["rules"] if texts_of(content, rule["id"]) == "R-EXPIRE-1")
    assert texts_of(content, rule["text"]).startswith("MUST: A time pass MUST remove or requeue only entries")
    (piece, address), *_ = rule["source"]
    assert texts_of(content, piece) == "RangeCacheRemovalQueue.evictLEntriesBeforeTimestamp"
    assert texts_of(content, address).endswith("/mledger/impl/cache/RangeCacheRemovalQueue.java")


def test_exceptions_stand_beside_the_verdict() -> None:
    known = {"rule": "R-READ-3", "state": "fails as known", "reason": "old", "issue": "#7"}
    skipped = [
        {"what": "flush=lazy", "reason": "waived by the finding lost"},
        {"what": "level views", "reason": "not built"},
    ]
    value = result("mine", [], skipped=skipped, known=[known, {**known, "state": "passes"}])
    value["levels"]["queue"]["missing"] = ["clear", "peek"]
    text = render_html([value])
    content = model(Page(text))
    (column,) = content["columns"]
    assert texts_of(content, column["exceptions"]) == [
        ["not offered", "clear, peek", "the subject lacks these operations of queue"],
        ["known failure", "R-READ-3", "old #7"],
        ["waived", "flush=lazy", "waived by the finding lost"],
        ["skipped", "level views", "not built"],
    ]
    assert texts_of(content, column["verdict"]) == "conforms, with exceptions"
    assert "<title>entrycache: conforms, with exceptions</title>" in text
    assert "<title>entrycache: conforms</title>" in render_html([result("mine", [])])


@pytest.mark.parametrize(
    ("expected", "got", "marked"),
    [
        ({"entries": 0, "bytes": 2}, {"entries": 1, "bytes": 2}, (["0"], ["1"])),
        ({"hits": [[1, 0], [1, 1]]}, {"hits": [[1, 1]]}, (["[1, 0]"], [])),
        ({"hits": [[1, 0]]}, {"hits": []}, (["[[1, 0]]"], ["[]"])),
        ({"hit": True}, {"failed": "crash"}, (['"hit": true'], ['"failed": "crash"'])),
        ({"at": 2**53 + 1}, {"at": 2**53}, (["9007199254740993"], ["9007199254740992"])),
        ({"all": list(range(300))}, {"all": [9, *range(1, 300)]}, (["0"], ["9"])),
        ([1, 2], [1, 2], ([], [])),
    ],
)
def test_differing_members_and_elements_are_marked(
    expected: Any, got: Any, marked: tuple[list[str], list[str]]
) -> None:
    sides = differences.mark_answers(expected, got)
    assert tuple([text for text, differs in side if differs] for side in sides) == marked
    assert ["".join(text for text, _ in side) for side in sides] == [json.dumps(expected), json.dumps(got)]


def test_differing_words_are_marked() -> None:
    assert differences.mark_words("bytes_after 6 of 9", "bytes_after 5 of 9") == (
        [("bytes_after ", False), ("6", True), (" of 9", False)],
        [("bytes_after ", False), ("5", True), (" of 9", False)],
    )
    assert differences.mark_words("", "no pass") == ([("", True)], [("no pass", True)])


def test_a_violation_of_an_audit_has_its_rows_and_a_timeline() -> None:
    content = model(Page(render_html(results_of("mine"))))
    of_run, of_audit = content["failures"]
    assert "timeline" not in of_run
    assert of_audit["timeline"] == {"at": 7, "bytes": [[6, 10], [7, 4]], "trigger": 8, "target": None, "limit": 9}
    assert texts_of(content, of_audit["rows"]) == [["6", "HIT", "mine"], ["7", "EVICT", "mine"]]
    assert (texts_of(content, content["columns"][of_audit["of"]]["name"]), of_audit["bad"]) == ("audit, mine", 1)


def test_an_audit_has_sums_by_broker_and_rule() -> None:
    rules = {"R-EVICT-8": "violates", "R-STATE-1": "inconclusive"}
    value = {**AUDITED, "rules": rules, "violations": 3, "brokers": {"a": rules, "b": {"R-EVICT-8": "conforms"}}}
    value |= {"violation_counts": {"a": {"R-EVICT-8": 3}}, "brokers_without_rows": ["c"], "notes": ["a: a gap at 7"]}
    content = model(Page(render_html([value])))
    (column,) = content["columns"]
    assert texts_of(content, column["broken"]) == ["R-EVICT-8"]
    assert [[texts_of(content, name), *sums] for name, *sums in column["brokers"]] == [
        ["a", [0, 1, 1, 0], [3]],
        ["b", [1, 0, 0, 0], [0]],
        ["c", [0, 0, 0, 0], [0]],
    ]
    assert texts_of(content, column["exceptions"]) == [
        ["nothing-checked", "broker c", "no rows"],
        ["not decided", "some rules", "a: a gap at 7"],
    ]


def test_several_files_stand_side_by_side(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.jsonl" for name in "ABC"]
    for file in files:
        file.write_text(json.dumps(result(file.stem, [failure("R-EXPIRE-1", "x")] if file.stem == "B" else [])))
    done = CliRunner().invoke(main, ["report", *map(str, files), "--to", "html"])
    assert done.exit_code == 0
    content = model(Page(done.stdout))
    assert [texts_of(content, column["name"]) for column in content["columns"]] == ["A", "B", "C"]
    assert [states(content, at)["R-EXPIRE-1"] for at in range(3)] == ["conforms", "violates", "conforms"]


def test_an_audit_writes_its_page(tmp_path: Path) -> None:
    rows = plant.honest(tmp_path / "honest", 300, 4)["broker-0"]
    ((rule, seq),) = plant.seed_violation(plant.wrong_sum, rows, 1)
    trace, page = plant.write(tmp_path / "trace", rows), tmp_path / "page.html"
    arguments = [
        "audit",
        str(trace),
        "--backend",
        "local",
        "--out",
        str(tmp_path / "out"),
        "--html",
        str(page),
        "--json",
    ]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 1
    stream = tmp_path / "results.jsonl"
    stream.write_text(done.stdout, "utf-8")
    assert CliRunner().invoke(main, ["report", str(stream), "--to", "html"]).stdout == page.read_text("utf-8")
    content = model(Page(page.read_text("utf-8")))
    failure = next(one for one in content["failures"] if one["timeline"]["at"] == seq)
    assert content["texts"][failure["rules"][0]] == rule
    assert content["texts"][failure["rows"][failure["bad"]][0]] == str(seq)
    assert len(failure["timeline"]["bytes"]) > len(failure["rows"]) > 1
    assert failure["timeline"]["limit"] == 1 << 40
    assert texts_of(content, failure["columns"])[:4] == ["seq", "op", "cause", "bytes_after"]
    assert 4 < failure["needed"] < len(failure["columns"])
    (column,) = content["columns"]
    assert [[texts_of(content, name), counts] for name, _, counts in column["brokers"]] == [["broker-0", [1]]]


def test_a_rule_that_is_broken_a_thousand_times_hides_no_other(tmp_path: Path) -> None:
    trace = plant.write(tmp_path / "trace", plant.honest(tmp_path / "honest", 300, 4)["broker-0"])
    often = [Violation("R-EVICT-5", "broker-0", seq, None, "x", "y", ()) for seq in range(100, 200)]
    rare = [Violation("R-STATE-1", "broker-0", 250, None, "x", "y", ())]
    excerpts = violations_with_rows(trace, [*often, *rare], "pulsar-pip430")
    assert [(one["rule"], one["seq"]) for one in excerpts[:3]] == [
        ("R-EVICT-5", 100),
        ("R-STATE-1", 250),
        ("R-EVICT-5", 101),
    ]
    assert len(excerpts) == 50
    audited = {**AUDITED, "violations": 101, "shown": excerpts}
    assert model(Page(render_html([audited])))["more"] == 51


def test_bounds_of_the_bytes_come_from_the_last_event_that_has_them(tmp_path: Path) -> None:
    base = plant.honest(tmp_path / "honest", 300, 4)["broker-0"][0]
    empty = dict.fromkeys(base)

    def row(seq: int, op: str, **values: Any) -> dict[str, Any]:
        return {**empty, "broker": "one", "seq": seq, "ts_ns": 0, "op": op, "bytes_after": 0, **values}

    rows = [
        row(0, "CONFIG", value='{"max_size_bytes": 100}'),
        row(1, "PASS_BEGIN", cause="SIZE", trigger_bytes=98, target_bytes=90),
        row(2, "CONFIG", value='{"max_size_bytes": 200}'),
        row(3, "PASS_BEGIN", cause="SIZE", trigger_bytes=196),
        row(4, "CONFIG", value="[1, 2]"),
        row(5, "CONFIG", value='{"max_size_bytes": true}'),
    ]
    trace = plant.write(tmp_path / "trace", rows)
    bounds = [list(inspect.bounds_at(trace, "one", seq).values()) for seq in range(6)]
    assert bounds == [[None, None, 100], [98, 90, 100], [98, 90, 200], *[[196, 90, 200]] * 3]
    assert list(inspect.bounds_at(trace, "two", 9).values()) == [None, None, None]


def test_the_columns_of_a_rule_are_those_that_its_file_names() -> None:
    columns = ("cache", "bytes_after", "ticket", "size_bytes")
    assert named_columns("R-STATE-1", "pulsar-pip430", columns) == ["bytes_after", "size_bytes"]
    assert named_columns("R-UNKNOWN-1", "pulsar-pip430", columns) == []


def many() -> list[dict[str, Any]]:
    return [
        result(
            f"subject {run}", [failure(f"R-EXPIRE-{n}", f"text {n}", "queue", f"{run}-{n}.json") for n in range(100)]
        )
        for run in range(100)
    ]


@pytest.mark.long
def test_ten_thousand_failures_are_small_and_quick() -> None:
    results = many()
    started_at = time.process_time()
    page = render_html(results)
    assert time.process_time() - started_at < 30
    assert len(page) < 8_000_000
    assert len(model(Page(page))["failures"]) == 10_000


@pytest.fixture(scope="module")
def chromium() -> Path:
    """Return a folder with headless Chromium, which npm brings."""
    if shutil.which("npm") is None:
        pytest.skip("node, with npm, is missing")
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "entrycache" / "chromium"
    shutil.copytree(ROOT / "tests" / "support" / "chromium", folder, dirs_exist_ok=True)
    done = subprocess.run(
        ["npm", "ci", "--no-fund", "--no-audit"], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"node: npm cannot bring Chromium: {done.stderr.strip().splitlines()[-1:]}")
    return folder


@pytest.mark.long
@pytest.mark.parametrize("kind", ["hostile", "many"])
def test_in_chromium_nothing_runs_nothing_is_said_and_keys_work(kind: str, chromium: Path, tmp_path: Path) -> None:
    results = many() if kind == "many" else [one for text in (*NASTY, CODE) for one in results_of(text)]
    failures = sum(len(one.get("failures", ())) + len(one.get("shown", ())) for one in results)
    file = tmp_path / "page.html"
    file.write_text(render_html(results), "utf-8")
    backgrounds = {}
    for scheme in ("dark", "light"):
        argv = ["node", "look.mjs", str(file), scheme]
        done = subprocess.run(argv, cwd=chromium, capture_output=True, text=True, timeout=300, check=True)
        observed = json.loads(done.stdout)
        assert (observed["said"], observed["asked"], observed["ran"]) == ([], [f"file://{file}"], False)
        assert observed["count"] == observed["again"] == f"{failures} of {failures} failures"
        assert observed["filtered"] == f"0 of {failures} failures"
        assert (observed["pictures"], observed["scripts"]) == (2, 2)
        assert observed["first"] == 1
        assert observed["grid"][0] > observed["grid"][1] == observed["moved"] == 1
        assert re.search(r"^R-[A-Z]+-\d+ MUST: ", observed["panel"])
        assert observed["wide"] == [1280, 400]
        assert kind == "hostile" or observed["cut"] == [0, 0], "the table of levels runs out of its card"
        assert "expire" in observed["opened"]
        assert observed["millis"] < 20_000
        backgrounds[scheme] = observed["back"]
    assert backgrounds["dark"] != backgrounds["light"]
