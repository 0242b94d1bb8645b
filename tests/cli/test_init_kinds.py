"""`entrycache init --kind`: the files of each kind and language, and what the command says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from entrycache_cli.commands.init import BROKER, KIND_LEVELS, KIND_TEMPLATES, LANGUAGES
from tests.cli.test_init import LINES_MOST
from tests.support.command import run

KINDS = sorted((kind.name, language.name) for kind in KIND_TEMPLATES.iterdir() for language in kind.iterdir())


def test_each_kind_is_there_and_lru_in_every_language() -> None:
    assert {kind for kind, _ in KINDS} == KIND_LEVELS.keys() - {BROKER}
    assert {language for kind, language in KINDS if kind == "lru"} == LANGUAGES.keys()


@pytest.mark.parametrize(("kind", "language"), KINDS)
def test_a_kind_is_written_short_and_without_vectors(
    kind: str, language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "init", "--lang", language, "--kind", kind, str(tmp_path / "mine"))
    assert (code, f"--level {KIND_LEVELS[kind]}" in out, "vectors" in out) == (0, True, False)
    for path in (KIND_TEMPLATES / kind / language).rglob("*.*"):
        text = path.read_text(encoding="utf-8")
        assert sum(bool(line.strip()) for line in text.splitlines()) <= LINES_MOST
        name = str(path.relative_to(KIND_TEMPLATES / kind / language)).removesuffix(".txt")
        assert (tmp_path / "mine" / name).read_text(encoding="utf-8") == text


def test_the_one_in_node_conforms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is missing")
    run(capsys, "init", "--lang", "node", "--kind", "lru", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "smoke", "--command", "node cache.mjs")
    assert code == 0, out + err


def test_a_kind_that_a_language_lacks_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "init", "--lang", "rust", "--kind", "log", str(tmp_path))
    assert (code, "there is no adapter of kind log in rust yet; expected one of: python" in err) == (2, True)
    assert list(tmp_path.iterdir()) == []
