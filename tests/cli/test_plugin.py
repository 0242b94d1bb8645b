"""The pytest plugin: a test for each rule and level; known failures are expected, and a failure is the table."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.command import run
from tests.support.pages import blocks

PAGE = ROOT / "docs" / "how-to/python-subject.md"
OPTIONS = ("--entrycache-subject", "my_cache:MyCache", "-p", "no:cacheprovider", "-q", "-rA")
KNOWN = """
[[known]]
rule = "R-READ-3"
system = "pulsar-pip430"
subject = "MyCache"
versions = ["*"]
case = '{case}'
expected = '{{"hits": [[1, 0]]}}'
got = '{got}'
reason = "half open, as our own range is"
issue = ""
"""
CASE = (
    '{"system": "pulsar-pip430", "steps": [{"op": "insert", "cache": "a", "pos": [1, 0], "size": 1}, '
    '{"op": "get_range", "cache": "a", "first": [1, 0], "last": [1, 0]}]}'
)


@pytest.fixture
def author(pytester: pytest.Pytester) -> pytest.Pytester:
    """Return a folder with one of the page's two classes; the first takes a range to be half open."""
    wrong, right = (block.text for block in blocks(PAGE) if block.file == "my_cache.py")
    pytester.makepyfile(my_cache=wrong, right_cache=right)
    pytester.makeini("[pytest]\n")
    return pytester


def test_a_rule_at_a_level_is_a_test_and_its_failure_is_the_table(
    author: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    result = author.runpytest_inprocess(*OPTIONS)
    counts = result.parseoutcomes()
    assert (counts["failed"], counts["passed"]) == (1, 1)
    out = result.stdout.str()
    assert "FAILED entrycache::range::R-READ-3" in out
    assert "PASSED entrycache::range::R-" in out
    assert "the search of this level ended at a failure of R-READ-3" in out
    assert "Traceback" not in out
    assert 'get_range  cache="a"  first=[1, 0]  last=[1, 0] │ {"hits": [[1, 0]]} │ {"hits": []}' in out
    (replay,) = {line for line in out.splitlines() if line.startswith("replay it: ")}  # in CI the summary has it too
    assert run(capsys, *shlex.split(replay)[3:])[0] == 1


@pytest.mark.long
def test_state_machines_are_tests_too(author: pytest.Pytester) -> None:
    author.makeconftest(
        "from hypothesis import settings\nsettings.register_profile('short', max_examples=40, database=None)\n"
        "settings.load_profile('short')\n"
    )
    result = author.runpytest_inprocess(*OPTIONS, "--entrycache-stateful", "-k", "stateful")
    assert result.parseoutcomes()["failed"] == 1
    out = result.stdout.str()
    assert "FAILED entrycache::stateful::range" in out
    assert "state.perform(get_range={" in out
    assert "MyCache breaks R-READ-3" in out


@pytest.mark.long
def test_what_conforms_passes_and_only_the_levels_that_are_left_are_run(author: pytest.Pytester) -> None:
    options = ("--entrycache-subject", "right_cache:MyCache", "-k", "R-READ-3 or R-STATE-1", "-q")
    assert author.runpytest_inprocess(*options).parseoutcomes() == {"passed": 2, "deselected": 30}


@pytest.mark.parametrize(
    ("got", "outcomes"),
    [
        pytest.param('{"hits": []}', {"xfailed": 2}, id="as it says", marks=pytest.mark.long),
        pytest.param('{"hits": [[1, 1]]}', {"failed": 2}, id="otherwise", marks=pytest.mark.long),
    ],
)
def test_a_known_failure_is_expected_as_long_as_it_is_true(
    got: str, outcomes: dict[str, int], author: pytest.Pytester
) -> None:
    Path("known.toml").write_text(KNOWN.format(case=CASE, got=got))
    result = author.runpytest_inprocess(*OPTIONS, "--entrycache-known", "known.toml", "-k", "R-READ-3")
    counts = result.parseoutcomes()
    assert {name: count for name, count in counts.items() if name != "deselected"} == outcomes


COUNTED = """
import os, pathlib
from my_cache import MyCache as Wrong

class MyCache(Wrong):
    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        pathlib.Path("ran", str(os.getpid())).touch()
"""


@pytest.mark.long
def test_workers_of_xdist_make_one_run(author: pytest.Pytester) -> None:
    author.makepyfile(counted=COUNTED)
    author.mkdir("ran")
    subject = ("--entrycache-subject", "counted:MyCache")
    result = author.runpytest_subprocess(*OPTIONS, *subject, "-p", "xdist", "-n", "2", "--dist", "load")
    counts = result.parseoutcomes()
    assert (counts["failed"], counts["passed"]) == (1, 1)
    out = result.stdout.str()
    assert "FAILED entrycache::range::R-READ-3" in out
    assert 'get_range  cache="a"  first=[1, 0]  last=[1, 0] │ {"hits": [[1, 0]]} │ {"hits": []}' in out
    assert len(list(Path("ran").iterdir())) == 1
    assert len(list(Path("entrycache-failures").iterdir())) == 1


def test_the_fixture_holds_a_class_to_the_rules(author: pytest.Pytester) -> None:
    author.makepyfile(
        """
        from my_cache import MyCache

        def test_it(entrycache):
            entrycache(MyCache, levels=["range"], examples=100)
        """
    )
    result = author.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.parseoutcomes() == {"failed": 1}
    assert "MyCache breaks R-READ-3 at step 1" in result.stdout.str()
    assert "in check" not in result.stdout.str()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--entrycache-subject", "nothing"], "unknown subject 'nothing'"),
        (["--entrycache-subject", "no_module:Cache"], "cannot import 'no_module'"),
        (["--entrycache-subject", "my_cache:Refuse"], "is no class that extends"),
        (
            ["--entrycache-subject", "fast", "--entrycache-system", "pulsar-pip430", "--entrycache-levels", "x"],
            "level 'x'",
        ),
        (["--entrycache-subject", "my_cache:MyCache", "--entrycache-seed", "x"], "expected a whole number"),
        (["--entrycache-subject", "my_cache:MyCache", "--entrycache-profile", "x"], "unknown profile"),
        (["--entrycache-subject", ""], "--entrycache-subject is empty"),
        (["--entrycache-command", " "], "--entrycache-command is empty"),
        (["--entrycache-known", "known.toml"], "--entrycache-known goes with --entrycache-subject or -command"),
    ],
)
def test_a_mistake_is_one_line_and_wrong_usage(options: list[str], said: str, author: pytest.Pytester) -> None:
    result = author.runpytest_inprocess(*options, "-q")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = (line for line in result.stderr.lines if line.startswith("ERROR: "))
    assert said in line


def test_without_a_subject_nothing_is_added(author: pytest.Pytester) -> None:
    assert author.runpytest_inprocess("-q").ret == pytest.ExitCode.NO_TESTS_COLLECTED


SILENT = """
from entrycache import Skip
from my_cache import MyCache

class Silent(MyCache):
    def get(self, *arguments, **options):
        raise Skip("not today", "")

    insert = get_range = clear = get
"""
"""A subject that skips every run with one of its central operations."""


@pytest.mark.long
@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "2")])
def test_a_session_that_checks_nothing_fails(workers: tuple[str, ...], author: pytest.Pytester) -> None:
    author.makepyfile(silent_cache=SILENT, test_own="def test_of_the_author():\n    pass\n")
    options = ("-p", "no:cacheprovider", "-q", *workers)
    subject = ("--entrycache-subject", "silent_cache:Silent", "--entrycache-levels", "range")
    result = author.runpytest_subprocess(*options, *subject)
    counts = result.parseoutcomes()
    assert (counts["passed"], counts.keys()) == (1, {"passed", "skipped"})
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    (line,) = (line for line in result.outlines if line.startswith("entrycache: nothing was checked"))
    assert f"all {counts['skipped']} tests of the subject were skipped" in line
    collected = author.runpytest_subprocess(*options, *subject, "--collect-only")
    assert collected.ret == pytest.ExitCode.OK


@pytest.mark.long
def test_a_step_that_never_ends_fails_every_test_of_its_level(author: pytest.Pytester) -> None:
    """No test of level range is about R-LIVENESS-1: that rule fires in passes."""
    loop = "    def get(self, cache, pos):\n        while pos[1] == 3:\n            pass\n"
    author.makepyfile(
        endless=author.path.joinpath("right_cache.py").read_text().replace("    def get(self, cache, pos):\n", loop)
    )
    result = author.runpytest_inprocess(*OPTIONS[:1], "endless:MyCache", *OPTIONS[2:], "-k", "R-READ-6 or R-INSERT-1")
    assert result.parseoutcomes()["failed"] == 2
    assert "R-LIVENESS-1 is broken" in result.stdout.str()


def test_a_session_that_leaves_out_all_tests_of_its_subject_fails(author: pytest.Pytester) -> None:
    author.makepyfile(test_own="def test_of_the_author():\n    pass\n")
    result = author.runpytest_inprocess(*OPTIONS, "-k", "test_of_the_author or R-REED-3")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "nothing was checked: -k or -m left out all tests of the subject" in result.stdout.str()
    assert author.runpytest_inprocess(*OPTIONS[2:], "-k", "test_of_the_author").ret == pytest.ExitCode.OK
