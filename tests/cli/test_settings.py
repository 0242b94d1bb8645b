"""The effective settings of a broker.conf in each era."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from entrycache_cli.settings import pulsar_table
from entrycache_cli.settings.pulsar_effective import Applicability, EffectiveSettings, read_effective_settings
from entrycache_cli.settings.pulsar_table import Era
from entrycache_dev.pages.settings import render_page
from entrycache_protocol.errors import UsageError
from entrycache_reference.pulsar_pip430.config import Config

A_BROKERS = """\
### --- General broker settings --- ###
zookeeperServers=
metadataStoreCacheExpirySeconds=300
topicNameCacheMaxCapacity=100000
managedLedgerUnackedRangesOpenCacheSetEnabled=true
managedLedgerMaxUnackedRangesToPersist=10000
# Amount of memory to use for caching data payload in managed ledger.
managedLedgerCacheSizeMB=
managedLedgerCacheEvictionWatermark=0.9
"""
"""Lines of a real file, which sets nothing and has no other cache setting that is the cache's."""


def read(tmp_path: Path, text: str, era: str = "4.2", memory_mb: int = 4096) -> EffectiveSettings:
    path = tmp_path / "broker.conf"
    path.write_bytes(text.encode("iso-8859-1"))
    return read_effective_settings(path, Era(era), memory_mb << 20)


def status_of(effective: EffectiveSettings, name: str) -> tuple[Applicability, Any, str]:
    return next(tuple(line.status) for line in effective.lines if line.setting.name == name)  # type: ignore[return-value]


def test_a_file_that_sets_nothing_gives_the_defaults(tmp_path: Path) -> None:
    effective = read(tmp_path, A_BROKERS)
    assert effective.passed_over == 5
    assert effective.config == {
        "max_size_bytes": 819 << 20,
        "watermark": 0.9,
        "ttl_nanos": 1_000_000_000,
        "evict_by_expected_reads": True,
        "max_requeues": 5,
        "extend_recently_accessed": True,
        "grace_millis": 0,
        "evict_by_mark_deleted": False,
    }
    assert effective.interval_millis == 10
    assert {line.line for line in effective.lines} == {None, 9}


def test_5_0_computes_the_limit_of_reads_in_flight(tmp_path: Path) -> None:
    assert status_of(read(tmp_path, "", "5.0"), pulsar_table.IN_FLIGHT)[1] == 614
    assert status_of(read(tmp_path, "", "5.0", 16), pulsar_table.IN_FLIGHT)[1] == 5
    large_reads = read(tmp_path, f"{pulsar_table.READ_BYTES_MAX}={1 << 30}", "5.0")
    assert status_of(large_reads, pulsar_table.IN_FLIGHT)[1] == 1024


@pytest.mark.parametrize(
    ("text", "era", "limits_mb"),
    [
        ("", "5.0", None),
        ("", "4.0", None),
        (f"{pulsar_table.CACHE_SIZE}=40960", "5.0", 40960 + 614 + 2048),
        (f"{pulsar_table.CACHE_SIZE}=2049", "4.2", 2049 + 2048),
        (f"{pulsar_table.CACHE_SIZE}=2049\n{pulsar_table.PUBLISH_BUFFER}=-1", "4.2", None),
        (f"{pulsar_table.PUBLISH_BUFFER}=4096", "4.2", 819 + 4096),
        (f"{pulsar_table.CACHE_SIZE}=0\n{pulsar_table.IN_FLIGHT}=2049", "5.0", 2049 + 2048),
    ],
)
def test_limits_above_the_direct_memory_give_a_warning(
    tmp_path: Path, text: str, era: str, limits_mb: int | None
) -> None:
    warnings = read(tmp_path, text, era).memory.warnings()
    assert len(warnings) == (limits_mb is not None)
    assert all(f"may take {limits_mb} MB, but the direct memory has 4096 MB" in warning for warning in warnings)


def test_the_limit_follows_the_direct_memory(tmp_path: Path) -> None:
    assert read(tmp_path, "", memory_mb=100).config["max_size_bytes"] == 64 << 20
    assert read(tmp_path, "", memory_mb=1001).config["max_size_bytes"] == 200 << 20


def test_eras_differ(tmp_path: Path) -> None:
    text = f"{pulsar_table.EXTEND_ACCESSED}=false\n{pulsar_table.MAX_REQUEUES}=2\n{pulsar_table.GRACE}=70\n"
    old, middle, new = (read(tmp_path, text, era) for era in ("4.0", "4.2", "5.0"))
    assert set(old.config) == {"max_size_bytes", "watermark", "ttl_nanos"}
    assert (middle.config["extend_recently_accessed"], middle.config["max_requeues"]) == (True, 5)
    assert (new.config["extend_recently_accessed"], new.config["max_requeues"]) == (False, 2)
    assert (middle.config["grace_millis"], new.config["grace_millis"]) == (0, 70)
    assert status_of(old, pulsar_table.MAX_REQUEUES)[0] is Applicability.NO
    assert status_of(middle, pulsar_table.MAX_REQUEUES)[:2] == (Applicability.DYNAMIC, 5)
    assert status_of(new, pulsar_table.MAX_REQUEUES)[:2] == (Applicability.YES, 2)
    assert status_of(middle, pulsar_table.GRACE)[0] is Applicability.NO
    assert not read(tmp_path, "", "5.0").config["extend_recently_accessed"]


def test_grace_defaults_to_twice_the_time_to_live(tmp_path: Path) -> None:
    assert read(tmp_path, f"{pulsar_table.TTL}=700", "5.0").config["grace_millis"] == 1400


def test_the_configuration_is_one_of_the_reference(tmp_path: Path) -> None:
    for era in ("4.2", "5.0"):
        assert Config(**read(tmp_path, "", era).config).max_requeues == 5


def test_expected_reads_overrule_the_mark_delete_position(tmp_path: Path) -> None:
    text = f"{pulsar_table.BY_MARK_DELETED}=true\n"
    assert status_of(read(tmp_path, text), pulsar_table.BY_MARK_DELETED)[:2] == (Applicability.NO, False)
    assert read(tmp_path, text).config["evict_by_mark_deleted"] is False
    assert status_of(read(tmp_path, text, "4.0"), pulsar_table.BY_MARK_DELETED)[:2] == (Applicability.YES, True)
    both = read(tmp_path, text + f"{pulsar_table.BY_EXPECTED}=false", "5.0")
    assert both.config["evict_by_mark_deleted"] is True
    assert status_of(both, pulsar_table.GRACE)[:2] == (Applicability.NO, 0)
    assert status_of(both, pulsar_table.BACKLOGGED)[:2] == (Applicability.YES, 1000)


@pytest.mark.parametrize(
    ("frequency", "interval", "millis"),
    [("0", "25", 25), ("0", "2000000", 1_000_000), ("3", "25", 333), ("5000", "25", 1), ("0.0001", "25", 1_000_000)],
)
def test_pace_of_scheduled_passes(tmp_path: Path, frequency: str, interval: str, millis: int) -> None:
    effective = read(tmp_path, f"{pulsar_table.FREQUENCY}={frequency}\n{pulsar_table.INTERVAL}={interval}\n")
    assert effective.interval_millis == millis
    assert status_of(effective, pulsar_table.INTERVAL)[0] is (
        Applicability.YES if frequency == "0" else Applicability.NO
    )


def test_a_limit_of_nothing_switches_the_rest_off(tmp_path: Path) -> None:
    effective = read(tmp_path, f"{pulsar_table.CACHE_SIZE}=0\n{pulsar_table.WATERMARK}=0.5", "5.0")
    assert effective.config["max_size_bytes"] == 0
    assert status_of(effective, pulsar_table.WATERMARK)[0] is Applicability.NO
    assert status_of(effective, pulsar_table.IN_FLIGHT)[0] is Applicability.YES
    older = read(tmp_path, f"{pulsar_table.CACHE_SIZE}=0\n{pulsar_table.IN_FLIGHT}=9", "4.2")
    assert status_of(older, pulsar_table.IN_FLIGHT)[0] is Applicability.NO


def test_what_pip_430_proposed_for_receive_buffers_does_not_act(tmp_path: Path) -> None:
    for era in ("4.0", "4.2", "5.0"):
        assert (
            status_of(read(tmp_path, f"{pulsar_table.RECEIVE_MAXIMUM}=65536", era), pulsar_table.RECEIVE_MAXIMUM)[0]
            is Applicability.NO
        )


def test_properties_syntax(tmp_path: Path) -> None:
    text = (
        f"! remark\r\n\r\n  {pulsar_table.TTL} : 12\\\r\n   34\r\n# {pulsar_table.TTL}=9\r\n"
        f"managedLedgerCacheSize\\u004DB\t77\r\n"
        f"{pulsar_table.COPY}\nother=\\u00e4 \xe4 caf\xe9\n"
    )
    effective = read(tmp_path, text)
    assert effective.config["ttl_nanos"] == 1_234_000_000
    assert effective.config["max_size_bytes"] == 77 << 20
    assert [line.line for line in effective.lines if line.line is not None] == [6, 3]


MISTAKES = {
    "managedLedgerCacheSizeMb=5": "line 1: 'managedLedgerCacheSizeMb' is no setting of the cache; did you mean",
    "x=1\nmanagedLedgerCacheSpeed=5": "line 2: 'managedLedgerCacheSpeed' is no setting",
    "cacheEvictionByMagic=true": "is no setting of the cache",
    f"{pulsar_table.CACHE_SIZE}=big": "line 1: managedLedgerCacheSizeMB is 'big'; expected a whole number",
    f"{pulsar_table.CACHE_SIZE}=1.5": "expected a whole number",
    f"{pulsar_table.CACHE_SIZE}=1_000": "expected a whole number",
    f"{pulsar_table.CACHE_SIZE}=\u00b2": "expected a whole number",
    f"{pulsar_table.CACHE_SIZE}=-1": "out of range; expected 0 to 2147483647",
    f"{pulsar_table.CACHE_SIZE}=3000000000": "out of range",
    f"{pulsar_table.WATERMARK}=1.1": "out of range; expected 0 to 1",
    f"{pulsar_table.WATERMARK}=NaN": "expected a number",
    f"{pulsar_table.TTL}=9007199255": "out of range",
    f"{pulsar_table.INTERVAL}=0": "out of range; expected 1",
    f"{pulsar_table.COPY}=yes": "expected true or false",
    f"{pulsar_table.TTL}=5\n{pulsar_table.TTL}=5": f"line 2: {pulsar_table.TTL} is given twice, first in line 1",
    "a=\\u12g4": "is no Unicode escape",
    "\xef\xbb\xbfa=1": "UTF-8 byte order mark",
    "\xff\xfea\0": "UTF-16",
    "a=\0": "zero byte",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_in_the_file_is_reported(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError) as raised:
        read(tmp_path, text)
    assert MISTAKES[text] in str(raised.value)
    assert "\n" not in str(raised.value)


def run(*argv: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "entrycache_cli", "settings", *argv]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_command(tmp_path: Path) -> None:
    path = tmp_path / "broker.conf"
    path.write_text(A_BROKERS)
    done = run("--broker-conf", str(path), "--era", "5.0", "--json")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert value["config"]["extend_recently_accessed"] is False
    assert [line["name"] for line in value["settings"]] == list(pulsar_table.SETTINGS)
    assert run("--broker-conf", str(path), "--era", "5.0").stdout.count("when changed") == 0
    for argv, said in (
        (["--broker-conf", str(path), "--era", "3.3"], "unknown era '3.3'; expected one of: 4.0, 4.2, 5.0"),
        (["--broker-conf", str(tmp_path / "none"), "--era", "4.2"], "No such file"),
        (["--broker-conf", str(tmp_path), "--era", "4.2"], "Is a directory"),
        (["--broker-conf", str(path)], "Missing option"),
    ):
        done = run(*argv)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert said in done.stderr


def test_the_page_is_the_table() -> None:
    assert Path("docs/reference/settings.md").read_text(encoding="utf-8") == render_page()
