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
from entrycache_cli.report.html import render_html
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
    lines = {"columns": ["seq", "op", text], "rows": rows, "bad": 1, "bytes": [[6, 10], [7, 4]]}
    return {**words, **lines, "seq": 7, "trigger": 8, "target": None}


def results_of(text: str) -> list[dict[str, Any]]:
    return [result(text, [failure("R-EXPIRE-1", text)]), {**AUDITED, "engine": text, "shown": [violation(text)]}]


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


def test_the_matrix_holds_every_rule_and_every_subject() -> None:
    content = model(Page(render_html(results_of("mine"))))
    texts = content["texts"]
    assert [texts[rule] for rule in content["rules"]] == ["R-EVICT-2", "R-EVICT-8", "R-EXPIRE-1", "R-STATE-1"]
    assert [[cell and texts[cell[0]] for cell in column["rules"]] for column in content["columns"]] == [
        ["nothing-checked", 0, "violates", "conforms"],
        [0, "violates", 0, 0],
    ]


def test_a_violation_of_an_audit_has_its_rows_and_a_timeline() -> None:
    content = model(Page(render_html(results_of("mine"))))
    of_run, of_audit = content["failures"]
    assert "timeline" not in of_run
    assert of_audit["timeline"] == {"at": 7, "bytes": [[6, 10], [7, 4]], "trigger": 8, "target": None}
    say = content["texts"].__getitem__
    assert [[say(cell) for cell in row] for row in of_audit["rows"]] == [["6", "HIT", "mine"], ["7", "EVICT", "mine"]]
    assert (say(content["columns"][of_audit["of"]]["name"]), of_audit["bad"]) == ("audit, mine", 1)


def test_an_audit_writes_its_page(tmp_path: Path) -> None:
    rows = plant.honest(tmp_path / "honest", 300, 4)["broker-0"]
    ((rule, seq),) = plant.seed_violation(plant.wrong_sum, rows, 1)
    trace, page = plant.write(tmp_path / "trace", rows), tmp_path / "page.html"
    arguments = [
        "audit",
        str(trace),
        "--engine",
        "local",
        "--out",
        str(tmp_path / "out"),
        "--html",
        str(page),
        "--json",
    ]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 1 and "shown" not in json.loads(done.stdout)
    content = model(Page(page.read_text("utf-8")))
    failure = next(one for one in content["failures"] if one["timeline"]["at"] == seq)
    assert content["texts"][failure["rules"][0]] == rule
    assert content["texts"][failure["rows"][failure["bad"]][0]] == str(seq)
    assert len(failure["timeline"]["bytes"]) > len(failure["rows"]) > 1


def many() -> list[dict[str, Any]]:
    return [
        result(
            f"subject {run}", [failure(f"R-EXPIRE-{n}", f"text {n}", "queue", f"{run}-{n}.json") for n in range(100)]
        )
        for run in range(100)
    ]


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
        assert "expire" in observed["opened"]
        assert observed["millis"] < 20_000
        backgrounds[scheme] = observed["back"]
    assert backgrounds["dark"] != backgrounds["light"]
