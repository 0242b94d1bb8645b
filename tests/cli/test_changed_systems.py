"""`make test` proves the rules of the systems that a change touches."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from entrycache_dev import changed_systems
from entrycache_dev.changed_systems import find_touched_systems, list_changed_files
from entrycache_evidence.systems import SYSTEM_EVIDENCE

ALL = list(SYSTEM_EVIDENCE)


@pytest.mark.parametrize(
    ("path", "systems"),
    [
        ("reference/entrycache_reference/kafka_streams/flush.py", ["kafka-streams"]),
        ("conformance/entrycache_evidence/pulsar_legacy/lemmas.py", ["pulsar-legacy"]),
        ("conformance/entrycache_faults/fast/pulsar_segmented.py", ["pulsar-segmented"]),
        ("conformance/entrycache_fast/kafka/store.py", ["kafka-streams"]),
        ("conformance/entrycache_fast/segmented.py", ["pulsar-segmented"]),
        ("conformance/entrycache_fast/__init__.py", ALL),
        ("reference/entrycache_reference/law.py", ALL),
        ("conformance/entrycache_evidence/core/scheduler.py", ALL),
        ("reference/entrycache_reference/rules.py", []),
        ("conformance/entrycache_cli/commands/prove.py", []),
        ("docs/README.md", []),
    ],
)
def test_a_file_touches_the_systems_whose_evidence_depends_on_it(path: str, systems: list[str]) -> None:
    assert find_touched_systems([path]) == systems


def test_all_systems_are_touched_if_git_cannot_tell() -> None:
    assert find_touched_systems(None) == ALL
    assert list_changed_files("no-such-commit") is None


def test_changed_and_new_files_since_the_base_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> None:
        person = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *person, *arguments], cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.setattr(changed_systems, "ROOT", tmp_path)
    monkeypatch.delenv(changed_systems.BASE, raising=False)
    git("init", "-q", "-b", "main")
    for name in ("one", "two"):
        (tmp_path / name).write_text(name)
        git("add", name)
        git("commit", "-q", "-m", name)
    assert list_changed_files() == ["two"]
    (tmp_path / "one").write_text("changed")
    (tmp_path / "three").write_text("new")
    assert list_changed_files() == ["one", "two", "three"]
    assert list_changed_files("HEAD") == ["one", "three"]
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    git("add", "one")
    git("commit", "-q", "-m", "Change one")
    assert list_changed_files() == ["one", "three"]
