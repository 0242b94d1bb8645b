"""Vectors: the same packs every time, equal to their manifest, and played with the judge of every run."""

from __future__ import annotations

import gzip
import json
import shutil
from itertools import islice
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.levels import NOTHING_FOUND
from entrycache_conformance.report import WITH_EXCEPTIONS
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.vectors.packs import (
    MANIFEST_NAME,
    PACK_NAMES,
    PACKS,
    SMALL_PACK,
    SMALL_PACK_SHARE,
    SUFFIX,
    PackSummary,
    find_changed_packs,
    make_vectors,
    pack_case_count,
    read_manifest,
)
from entrycache_conformance.vectors.player import PackResult
from entrycache_protocol.errors import Verdict
from tests.support import ROOT
from tests.support.command import run

PUBLISHED = ROOT / "spec" / "vectors"
SMALL_BYTES_MOST = 300_000


def lines() -> list[str]:
    with gzip.open(PUBLISHED / f"{SMALL_PACK}{SUFFIX}", "rt", encoding="utf-8") as pack:
        return pack.read().splitlines()


def written(path: Path, pack: list[str]) -> str:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in pack)
    return str(path)


def consumed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict, str]:
    code, out, err = run(capsys, "vectors", "consume", *arguments, "--json")
    return code, json.loads(out) if out else {}, err


def test_the_small_pack_is_what_the_code_makes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "vectors", "fill", "--check", "--pack", SMALL_PACK)
    assert (code, "seed 0" in out) == (0, True), out + err
    assert [vector.line for vector in islice(make_vectors(SMALL_PACK, 0), 100)] == lines()[:100]
    assert [vector.line for vector in islice(make_vectors(SMALL_PACK, 1), 100)] != lines()[:100]


@pytest.mark.long
def test_the_whole_set_is_what_the_code_makes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "vectors", "fill", "--check", "--json")
    report = json.loads(out)
    assert (code, report["otherwise"], report["cases"]) == (0, [], 50_000)


def test_the_manifest_names_every_pack_and_50_000_cases() -> None:
    manifest = json.loads((PUBLISHED / MANIFEST_NAME).read_text(encoding="utf-8"))
    assert manifest["cases"] == sum(pack.cases for pack in PACKS) == 50_000
    assert {pack["name"]: pack["cases"] for pack in manifest["packs"]} == {
        name: pack_case_count(name) for name in PACK_NAMES
    }
    assert {pack.system for pack in PACKS} == SYSTEMS.keys()
    assert (PUBLISHED / f"{SMALL_PACK}{SUFFIX}").stat().st_size <= SMALL_BYTES_MOST


def test_the_page_names_every_pack() -> None:
    page = (ROOT / "docs" / "how-to/vectors.md").read_text(encoding="utf-8")
    rows = [
        tuple(cell.strip(" `") for cell in line.split("|")[1:3]) for line in page.splitlines() if line.startswith("| ")
    ]
    assert {row for row in rows if row[1].isdigit()} == {(pack.name, str(pack.cases)) for pack in PACKS}


def test_a_manifest_that_says_otherwise_is_seen(tmp_path: Path) -> None:
    manifest = json.loads((PUBLISHED / MANIFEST_NAME).read_text(encoding="utf-8"))
    packs = read_manifest(PUBLISHED / MANIFEST_NAME)["packs"].values()
    filled = [
        PackSummary(**{name: pack[name] for name in PackSummary._fields} | {"rules": tuple(pack["rules"])})
        for pack in packs
    ]
    assert find_changed_packs(filled, PUBLISHED / MANIFEST_NAME, whole_set=True) == []
    assert find_changed_packs(filled[1:], PUBLISHED / MANIFEST_NAME, whole_set=True) == [filled[0].name]
    first, *others = filled
    for rules, wrong in ((first.rules[1:], [first.name]), ((*first.rules, "R-NEW-1"), [])):
        changed = [first._replace(rules=rules), *others]
        assert find_changed_packs(changed, PUBLISHED / MANIFEST_NAME, whole_set=True) == wrong
    manifest["packs"][2]["sha256"] = manifest["packs"][1]["sha256"]
    (tmp_path / MANIFEST_NAME).write_text(json.dumps(manifest), encoding="utf-8")
    assert find_changed_packs(filled, tmp_path / MANIFEST_NAME, whole_set=False) == [filled[2].name]
    manifest["packs"][2]["sha256"] = filled[2].sha256
    manifest["varies"][filled[1].name]["max_size_bytes"] += 1
    (tmp_path / MANIFEST_NAME).write_text(json.dumps(manifest), encoding="utf-8")
    assert find_changed_packs(filled, tmp_path / MANIFEST_NAME, whole_set=False) == [filled[1].name]


@pytest.mark.parametrize("system", SYSTEMS)
def test_our_caches_play_the_small_pack(system: str, capsys: pytest.CaptureFixture[str]) -> None:
    subject = "reference" if SYSTEMS[system].fast is None else "fast"
    code, report, err = consumed(capsys, SMALL_PACK, subject, "--system", system)
    assert code == 0, err
    assert (report["verdict"], report["published"], report["cases"]) == ("conforms", SMALL_PACK, 1_000)
    counts = {pack.level: pack.cases // SMALL_PACK_SHARE for pack in PACKS if pack.system == system}
    assert report["played"] == sum(counts.values())


@pytest.mark.long
def test_a_seeded_fault_is_found_and_replays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report, _ = consumed(capsys, SMALL_PACK, "expire-at-the-cutoff", "--failures", str(tmp_path))
    assert (code, report["verdict"]) == (1, "violates")
    failure = report["failures"][0]
    assert failure["rule"] == "R-EXPIRE-1"
    code, _, _ = run(capsys, "replay", failure["case"], "expire-at-the-cutoff")
    assert code == 1
    code, _, _ = run(capsys, "replay", failure["case"], "fast")
    assert code == 0


def test_outcomes_that_are_not_the_references_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pack = lines()[:3]
    assert '{"hits":[[1,3],[2,0]]}' in pack[1]
    pack[1] = pack[1].replace('{"hits":[[1,3],[2,0]]}', '{"hits":[[1,3]]}')
    code, _, err = consumed(capsys, written(tmp_path / "altered.gz", pack), "fast", "--system", "pulsar-pip430")
    assert code == 2
    assert "line 2: the outcome of step 11 is not the reference's" in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\x1f\x8bnot a pack", "damaged"),
        (gzip.compress(b"\n" * 1_000, mtime=0)[:-9], "damaged"),
        (b"{}\n", "line 1"),
        (b"\xff\n", "not UTF-8"),
        (b"", "holds no case"),
    ],
)
def test_what_is_no_pack_is_reported_in_one_line(
    content: bytes, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pack").write_bytes(content)
    code, _, err = run(capsys, "vectors", "consume", str(tmp_path / "pack"), "fast", "--system", "pulsar-pip430")
    assert (code, says in err, len(err.strip().splitlines())) == (2, True, 1), err


def test_a_pack_of_other_systems_checks_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    others = [line for line in lines() if '"system":"kafka-streams"' in line]
    code, report, err = consumed(capsys, written(tmp_path / "others.gz", others), "fast", "--system", "pulsar-pip430")
    assert (code, report["verdict"], report["played"]) == (2, "nothing-checked", 0)
    assert "the case is about kafka-streams" in err


@pytest.mark.long
def test_fill_writes_what_consume_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "vectors", "fill", "--pack", SMALL_PACK, "--seed", "7", "--out", str(tmp_path))
    assert code == 0, err
    code, report, _ = consumed(
        capsys, str(tmp_path / f"{SMALL_PACK}{SUFFIX}"), "reference", "--system", "pulsar-segmented"
    )
    assert (code, report["published"], report["played"]) == (0, None, 60)
    code, _, err = run(capsys, "vectors", "fill", "--check", "--seed", "7")
    assert (code, "--seed" in err) == (2, True)


def test_a_published_pack_whose_file_is_another_is_seen(tmp_path: Path) -> None:
    shutil.copytree(PUBLISHED, tmp_path / "vectors")
    known = json.loads((PUBLISHED / MANIFEST_NAME).read_text("utf-8"))["packs"]
    pack = next(pack for pack in known if pack["name"] == SMALL_PACK)
    small = PackSummary(**{name: pack[name] for name in PackSummary._fields} | {"rules": tuple(pack["rules"])})
    assert find_changed_packs([small], tmp_path / "vectors" / MANIFEST_NAME, whole_set=False) == []
    file = tmp_path / "vectors" / f"{SMALL_PACK}{SUFFIX}"
    text = gzip.decompress(file.read_bytes())
    file.write_bytes(gzip.compress(text.replace(b'"hit":true', b'"hit":false', 1), mtime=0))
    assert find_changed_packs([small], tmp_path / "vectors" / MANIFEST_NAME, whole_set=False) == [SMALL_PACK]


@pytest.mark.long
def test_a_setting_that_follows_from_others_needs_not_be_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The adapter of `init` varies one setting; cases write the grace period out, as twice the time to live."""
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "init", "--lang", "python")[0] == 0
    code, report, err = consumed(capsys, SMALL_PACK, "my_cache:MyCache")
    assert (code, report["verdict"]) == (0, "conforms"), err
    other = [line.replace('"grace_millis":2000', '"grace_millis":1999') for line in lines()]
    code, _, err = consumed(capsys, written(tmp_path / "other.gz", other), "my_cache:MyCache")
    assert code == 2, err


@pytest.mark.parametrize(
    ("played", "repeated", "code"), [(9, 1, 2), (10, 1, 0), (9, 3, 2)], ids=["few", "enough", "repeated"]
)
def test_a_pack_of_which_too_little_is_played_checks_nothing(
    played: int,
    repeated: int,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """At least ten different cases must be played; repeated ones and those of other systems do not count."""
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "init", "--lang", "python")[0] == 0
    playable, beyond = (
        [line for line in lines() if f'"note":"pulsar-pip430-{level} ' in line] for level in ("range", "cursors")
    )
    others = [line for line in lines() if '"system":"kafka-streams"' in line]
    beyond = [line for line in beyond if '"cursor_add"' in line]
    pack = [*repeated * playable[:played], *beyond[:80], *others]
    ended, report, err = consumed(capsys, written(tmp_path / "pack.gz", pack), "my_cache:MyCache")
    verdict = "conforms" if code == 0 else "nothing-checked"
    assert (ended, report["verdict"], report["distinct"]) == (code, verdict, played), err
    assert report["played"] == repeated * played
    assert (f"{played} of " in err and "a verdict needs" in err) == (code == 2)


def test_a_pack_without_steps_is_no_verdict() -> None:
    cases = {bytes([number]) for number in range(10)}
    assert PackResult(10, 10, 0, of_system=cases, distinct=cases, ended=True).verdict is Verdict.NOTHING_CHECKED
    assert PackResult(10, 10, 1, of_system=cases, distinct=cases, ended=True, varied=True).verdict is Verdict.CONFORMS
    more = {*cases, *(b"more %d" % number for number in range(91))}
    assert PackResult(101, 10, 1, of_system=more, distinct=cases, ended=True).verdict is Verdict.NOTHING_CHECKED


LOOKUPS: Final = {"get": ["hit"], "get_range": ["hits"], "exists": ["exists"]}


@pytest.mark.parametrize(
    ("uncompared", "code", "headline"),
    [({}, 0, "conforms"), ({"get": ["hit"]}, 0, WITH_EXCEPTIONS), (LOOKUPS, 2, "nothing-checked")],
    ids=["all", "without-get", "no-lookup"],
)
def test_what_a_pack_does_not_compare_stands_beside_its_verdict(
    uncompared: dict[str, list[str]],
    code: int,
    headline: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    text = (ROOT / "conformance/entrycache_cli/templates/adapters/python/my_cache.py.txt").read_text("utf-8")
    line = 'settings = ("max_size_bytes",)'
    (tmp_path / f"blind_{code}_{len(uncompared)}.py").write_text(
        text.replace(line, f"{line}\n    uncompared = {uncompared!r}"), "utf-8"
    )
    subject = f"blind_{code}_{len(uncompared)}:MyCache"
    pack = written(tmp_path / "pack.gz", [each for each in lines() if '"note":"pulsar-pip430-range ' in each])
    ended, out, err = run(capsys, "vectors", "consume", pack, subject)
    assert (ended, out.splitlines()[-1 - len(uncompared)].split(" MyCache")[0]) == (code, headline), err
    assert ("  except uncompared: get: hit (the subject does not give it)" in out.splitlines()) == bool(uncompared)
    assert (NOTHING_FOUND in err) == (code == 2)
    _, report, _ = consumed(capsys, pack, subject)
    assert [one["what"] for one in report["exceptions"]] == [
        f"{op}: {keys[0]}" for op, keys in sorted(uncompared.items())
    ]


def test_cases_that_a_subject_cannot_play_are_an_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "init", "--lang", "python")[0] == 0
    code, out, _ = run(capsys, "vectors", "consume", SMALL_PACK, "my_cache:MyCache")
    assert (code, WITH_EXCEPTIONS in out, "except not played: " in out) == (0, True, True)


def test_no_case_is_played_whose_entries_are_larger_than_the_subject_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    text = (ROOT / "conformance/entrycache_cli/templates/adapters/python/my_cache.py.txt").read_text("utf-8")
    line = 'settings = ("max_size_bytes",)'
    text = text.replace(line, f'{line}\n    limits = {{"max_size": 10, "max_steps": 30}}')
    text = text.replace("if size < 0:", "assert size <= 10\n        if size < 0:")
    (tmp_path / "limited_pack.py").write_text(text, "utf-8")
    pack = written(tmp_path / "pack.gz", [each for each in lines() if '"note":"pulsar-pip430-range ' in each])
    code, report, err = consumed(capsys, pack, "limited_pack:MyCache")
    reasons = " ".join(each["reason"] for each in report["not_asked"])
    assert (code, report["verdict"]) == (0, "conforms"), err
    assert "an entry has more than 10 bytes" in reasons
    assert "the case has more than 30 steps" in reasons
