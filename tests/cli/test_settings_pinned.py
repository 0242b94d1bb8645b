"""Runs with a broker's settings: each run has them, and a subject that cannot have them is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from entrycache_cli.settings import pulsar_table
from entrycache_cli.settings.pulsar_effective import read_effective_settings
from entrycache_cli.settings.pulsar_table import Era
from entrycache_conformance.levels import Profile
from entrycache_conformance.run import Options, conform
from entrycache_conformance.subjects.wrappers import pin_settings
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.pulsar_pip430 import fast_cache
from entrycache_protocol.case import Case
from entrycache_protocol.errors import UsageError
from entrycache_protocol.subject import Answer, InProcessSubject

WORDS = f"{pulsar_table.TTL}=7\n{pulsar_table.MAX_REQUEUES}=1\n{pulsar_table.CACHE_SIZE}=64\n"


class Watched(InProcessSubject):
    """A subject that records the configurations of its runs."""

    configs: list[Any]

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        self.configs += [case.config for case in cases]
        return super().play(cases)


def watched(**offer: Any) -> Watched:
    subject = Watched("watched", SYSTEMS["pulsar-pip430"], fast_cache.open_cache, {**fast_cache.DECLARATION, **offer})
    subject.configs = []
    return subject


def broker_conf(tmp_path: Path, text: str = WORDS) -> Path:
    path = tmp_path / "broker.conf"
    path.write_text(text)
    return path


@pytest.mark.long
def test_every_run_has_the_settings(tmp_path: Path) -> None:
    effective = read_effective_settings(broker_conf(tmp_path), Era.PULSAR_5_0)
    subject = watched()
    options = Options(("queue",), Profile(60, 0, 0), 0, 0.0, tmp_path)
    conform(pin_settings(subject, effective.config, effective.path), options)
    assert len(subject.configs) >= 60
    for config in subject.configs:
        assert (config.ttl_nanos, config.max_requeues, config.max_size_bytes) == (7_000_000, 1, 64 << 20)
        assert (config.extend_recently_accessed, config.effective_grace_millis) == (False, 14)


@pytest.mark.parametrize(
    ("offer", "said"),
    [
        ({"fixed": {"ttl_nanos": 3}}, "watched has ttl_nanos fixed to 3, but"),
        ({"config": ["max_size_bytes"]}, "watched does not accept ttl_nanos (it has 1000000000), but"),
    ],
)
def test_a_subject_that_has_other_settings_is_not_asked(tmp_path: Path, offer: dict[str, Any], said: str) -> None:
    effective = read_effective_settings(broker_conf(tmp_path, f"{pulsar_table.TTL}=7"), Era.PULSAR_4_2)
    config = {key: effective.config[key] for key in ("ttl_nanos",)}
    with pytest.raises(UsageError) as raised:
        pin_settings(watched(**offer), config, effective.path)
    assert said in str(raised.value)
    pin_settings(watched(fixed={"ttl_nanos": 7_000_000}), config, effective.path)


def command(cwd: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "entrycache_cli", "conform", "fast", *argv]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=cwd)


@pytest.mark.long
def test_command(tmp_path: Path) -> None:
    broker_conf(tmp_path, f"{pulsar_table.TTL}=7\n")
    done = command(tmp_path, "--broker-conf", "broker.conf", "--era", "5.0", "--level", "queue", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "conforms"
    for argv, said in (
        (["--broker-conf", "broker.conf"], "--broker-conf and --era go together"),
        (["--era", "4.2"], "--broker-conf and --era go together"),
        (["--broker-conf", "broker.conf", "--era", "4.0"], "era 4.0 is system pulsar-legacy; fast is another one"),
        (["--broker-conf", "none.conf", "--era", "4.2"], "cannot read the broker configuration none.conf"),
    ):
        done = command(tmp_path, *argv)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert said in done.stderr
