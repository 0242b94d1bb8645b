"""A thread's share of a client's record cache: the command beside the released computation."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner

from entrycache_cli.commands.share import Entry, read_client, share_bytes
from entrycache_cli.main import main
from entrycache_conformance.java.releases import release_versions
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import Case
from entrycache_protocol.subject import RunResult, TestedSubject
from entrycache_reference.kafka_streams import Config, initial, ops, step

TOTALS: Final = (0, 1, 7, 100, 10_485_760, 2**53 - 1)
GRID: Final = [(total, threads, globe) for total in TOTALS for threads in range(6) for globe in (False, True)]


def share(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["share", *arguments])
    return done.exit_code, done.output


def numbers(*arguments: str) -> dict[str, Any]:
    code, output = share(*arguments, "--json")
    assert code == 0, output
    return dict(json.loads(output))


@pytest.mark.parametrize("release", release_versions("kafka-streams"))
def test_the_shares_are_those_that_the_release_computes(
    release: str, released_subject: Callable[[str], TestedSubject]
) -> None:
    steps = tuple(ops.Share(*arguments) for arguments in GRID)
    released = released_subject(f"kafka-streams:{release}")
    answer = released.play([Case(SYSTEMS["kafka-streams"], Config(), steps)])[0]
    assert isinstance(answer, RunResult)
    assert [outcome["bytes"] for outcome in answer.outcomes] == [share_bytes(*arguments) for arguments in GRID]


def test_a_thread_gets_an_equal_part_and_a_store_nothing_of_its_own() -> None:
    got = numbers("--total", "1000", "--threads", "2", "--global-thread", "--stores", "3", "--key-bytes", "5")
    assert (got["thread_bytes"], got["unused_bytes"]) == (333, 1)
    assert (got["entry_bytes"], got["entries"], got["entries_each_if_written_alike"]) == (50, 6, 2)
    code, output = share("--total", "1000", "--stores", "3")
    assert code == 0
    assert "each store of each task: nothing of its own" in output
    assert "the one that is written pays" in output


def test_as_many_entries_fit_as_it_says() -> None:
    entry = Entry(key_bytes=2, value_bytes=9, topic="𝄞t", header_bytes=3)
    headers = (("é", "ü"),)
    got = numbers("--total", "1000", "--key-bytes", "2", "--value-bytes", "9", "--topic", "𝄞t", "--header-bytes", "3")
    assert got["entry_bytes"] == entry.counted_bytes
    config = Config(max_size_bytes=got["thread_bytes"])
    state = initial(config)
    for number in range(100):
        put = ops.Put("a", f"{number:02}", "9 bytes..", topic="𝄞t", headers=headers)
        state = step(state, put, config).state
    assert len(state.spaces["a"].nodes) == got["entries"]


def test_a_properties_file_is_read_as_a_client_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "streams.properties"
    file.write_text("application.id=x\nnum.stream.threads = 4\ncache.max.bytes.buffering: 800\n")
    old = numbers("--config", str(file))
    assert (old["thread_bytes"], old["total_from"]) == (200, "cache.max.bytes.buffering, streams.properties line 3")
    file.write_text("cache.max.bytes.buffering=800\nstatestore.cache.max.bytes=400\nnum.stream.threads=4\n")
    assert numbers("--config", str(file))["thread_bytes"] == 100
    assert numbers("--config", str(file), "--threads", "1")["thread_bytes"] == 400
    assert read_client(None, None, None, False).total_bytes.value == 10_485_760


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("num.stream.threads=many\n", "line 1: num.stream.threads is 'many'; expected a whole number"),
        ("a=b\nstatestore.cache.max.bytes=-1\n", "line 2: statestore.cache.max.bytes is -1, out of range"),
        ("num.stream.threads=1\nnum.stream.threads=2\n", "line 2: num.stream.threads is given twice"),
        ("num.stream.threads=0\n", "says 0 stream threads; expected at least 1, or --global-thread"),
        ("num.stream.threads=\\u00g0\n", "is no Unicode escape"),
    ],
)
def test_a_wrong_file_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "streams.properties"
    file.write_text(text)
    code, output = share("--config", str(file))
    assert code == 2
    assert said in output
    assert len(output.strip().splitlines()) == 1


APPLICATION_YML: Final = """\
spring:
  application: {name: orders}
  kafka:
    properties: {num.stream.threads: 9, cache.max.bytes.buffering: 7}
    streams:
      state-store-cache-max-size: 10MB
      properties:
        num.stream.threads: 4
        "[commit.interval.ms]": 100
"""


def test_a_spring_boot_file_is_read_as_spring_reads_it(tmp_path: Path) -> None:
    yml = tmp_path / "application.yml"
    yml.write_text(APPLICATION_YML)
    got = numbers("--config", str(yml))
    assert (got["total_bytes"], got["total_from"]) == (10 << 20, "statestore.cache.max.bytes, application.yml line 6")
    assert (got["threads"], got["threads_from"]) == (4, "num.stream.threads, application.yml line 8")
    assert got["notes"] == []
    yml.write_text(
        APPLICATION_YML
        + '        "[statestore.cache.max.bytes]": 400\n---\n'
        + """\
spring.config.activate.on-profile: test
spring.kafka.streams.properties.num.stream.threads: 1
"""
    )
    got = numbers("--config", str(yml))
    assert got["thread_bytes"] == 100
    assert "the document for the profile test (line 12) was not read" in got["notes"][0]
    properties = tmp_path / "application.properties"
    properties.write_text("""\
spring.kafka.streams.stateStoreCacheMaxSize=800
spring.kafka.streams.properties.num.stream.threads=2
num.stream.threads=5
""")
    assert numbers("--config", str(properties))["thread_bytes"] == 400


@pytest.mark.parametrize("name", ["application.yml", "application.properties"])
def test_a_file_without_a_setting_of_the_cache_is_said(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("server.port: 8080\n")
    code, output = share("--config", str(tmp_path / name))
    assert code == 0
    assert f"{name}: no setting was recognised; expected statestore.cache.max.bytes" in output


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.yml", "a: [1\n", "no YAML"),
        ("a.yml", "spring.kafka.streams.state-store-cache-max-size: 10 apples", "line 1: spring.kafka.streams"),
        (
            "a.yml",
            "spring.kafka.streams.properties.num.stream.threads: ${N:4}",
            "line 1: num.stream.threads is '${N:4}'",
        ),
        ("a.yml", "a: &a {a: *a}\n", "too many values"),
        ("a.properties", "spring.config.activate.on-profile=test\n", "a document for a profile, which is not read"),
    ],
)
def test_a_wrong_spring_boot_file_is_one_line(name: str, text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    code, output = share("--config", str(tmp_path / name))
    assert (code, said in output, len(output.strip().splitlines())) == (2, True, 1), output


def test_what_cannot_be_is_refused() -> None:
    assert share("--total", "-1")[0] == 2
    assert share("--stores", "0")[0] == 2
    assert share("--config", "/no/such/file")[0] == 2


def test_nothing_fits_into_nothing() -> None:
    assert "written below and forwarded at once" in share("--total", "0")[1]
    assert "none fits" in share("--total", "10")[1]
