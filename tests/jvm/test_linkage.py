"""A class path on which nothing can be judged is distinguished from an implementation that fails."""

from __future__ import annotations

import shlex
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from entrycache_conformance.java.driver import java_test_classpath, pinned_jar, released_command
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.command import run

SUBJECT: Final = "kafka-streams:4.3.1"

CASE: Final = """{"system": "kafka-streams", "steps": [{"op": "put", "ns": "n", "key": "k", "value": "1"}]}"""

ENTRY: Final = """package org.apache.kafka.streams.state.internals;
import org.apache.kafka.common.header.Headers;
class LRUCacheEntry {
    LRUCacheEntry(byte[] value, Headers headers, boolean dirty, long offset, long timestamp, int partition, String topic
        %(parameters)s) { %(body)s }
}
"""
"""A class in place of the released one. The driver calls its constructor in the first step."""

CACHE: Final = """package org.apache.kafka.streams.state.internals;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
public class ThreadCache {
    private Object caches;
    private AtomicLong sizeInBytes;
    public ThreadCache(LogContext context, long bytes, StreamsMetricsImpl metrics) {}
    static String nameSpaceFromTaskIdAndStore(String task, String store) { return store; }
}
"""
"""A cache without the methods that the driver calls."""

NEW_PARAMETERS: Final = ", byte[] raw, byte[] old"

BYTES: Final = """package org.apache.kafka.common.utils;
public class Bytes { public static void added() {} }
"""


class Tools(NamedTuple):
    """The tools of the driver's release, and a folder to work in."""

    javac: str
    classpath: str
    folder: Path

    def compile(self, name: str, sources: dict[str, str], *front: Path) -> Path:
        """Compile Java files, and return the folder of their classes."""
        target = self.folder / name
        files = []
        for file, text in sources.items():
            files.append(self.folder / file)
            files[-1].write_text(text, "utf-8")
        classpath = ":".join((*map(str, front), self.classpath))
        subprocess.run([self.javac, "-nowarn", "-proc:none", "-cp", classpath, "-d", target, *files], check=True)
        return target

    def entry(self, body: str, *front: Path, parameters: str = NEW_PARAMETERS) -> Path:
        """Return a folder that replaces the entries of the cache."""
        text = ENTRY % {"parameters": parameters, "body": body}
        return self.compile("entry", {"LRUCacheEntry.java": text}, *front)


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    try:
        java = java_test_classpath(SUBJECT)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    (tmp_path / "case.json").write_text(CASE, "utf-8")
    return Tools(java.javac, java.classpath, tmp_path)


Replay = Callable[..., tuple[int, str]]


@pytest.fixture
def replay(tools: Tools, capsys: pytest.CaptureFixture[str]) -> Replay:
    """Replay a case of one step; return the exit code, and the last line of stderr or, for a violation, the table."""

    def replay(*subject: object) -> tuple[int, str]:
        code, out, err = run(capsys, "replay", str(tools.folder / "case.json"), *map(str, subject))
        return code, out if code == 1 else err.splitlines()[-1]

    return replay


def command_with(tools: Tools, jar: Path, without: str) -> str:
    """Return the command of the driver with a jar that lacks one class."""
    less = tools.folder / jar.name
    with zipfile.ZipFile(jar) as full, zipfile.ZipFile(less, "w") as copy:
        for name in full.namelist():
            if name != f"{without}.class":
                copy.writestr(name, full.read(name))
    return shlex.join(part.replace(str(jar), str(less)) for part in released_command(SUBJECT))


def test_a_driver_that_does_not_fit_is_no_violation(tools: Tools, replay: Replay) -> None:
    code, line = replay(SUBJECT, "--classpath", tools.compile("other", {"ThreadCache.java": CACHE}))
    assert code == 3
    assert line.startswith(
        "entrycache: the driver of kafka-streams 4.3.1 does not fit the classes on the class path: it needs "
        "org.apache.kafka.streams.state.internals.ThreadCache.addDirtyEntryFlushListener(java.lang.String, org.apache"
    )
    assert ", which other lacks; give the jars that it was built for, or choose the driver" in line


@pytest.mark.long
def test_a_constructor_of_a_shape_that_no_release_has_is_named(tools: Tools, replay: Replay) -> None:
    code, line = replay(SUBJECT, "--classpath", tools.entry("", parameters=", int more"))
    assert code == 3
    assert "internals.LRUCacheEntry has no constructor (byte[], Headers, boolean, long, long, int, String)" in line


@pytest.mark.long
def test_a_field_that_the_driver_reads_by_reflection_is_named(tools: Tools, replay: Replay) -> None:
    text = "package org.apache.kafka.streams.state.internals; class NamedCache { NamedCache(String name) {} }"
    code, line = replay(SUBJECT, "--classpath", tools.compile("named", {"NamedCache.java": text}))
    assert code == 3
    assert "of kafka-streams 4.3.1 does not fit" in line
    assert "state.internals.NamedCache has no field cache; give" in line


@pytest.mark.parametrize(
    ("jar", "without", "expected"),
    [
        (
            "kafka-clients",
            "org/apache/kafka/common/metrics/stats/Max",
            " (kafka-streams-4.3.1.jar) needs class org.apache.kafka.common.metrics.stats.Max, "
            "which is not on the class path; add the jar that holds it",
        ),
        (
            "kafka-streams",
            "org/apache/kafka/streams/state/internals/ThreadCache",
            "the driver of kafka-streams 4.3.1 needs class org.apache.kafka.streams.state.internals.ThreadCache, "
            "which is not on the class path; add the jar that holds it, or choose the driver",
        ),
    ],
    ids=["of-a-library", "of-the-jar-under-test"],
)
def test_a_missing_class_is_named(tools: Tools, replay: Replay, jar: str, without: str, expected: str) -> None:
    command = command_with(tools, pinned_jar(SUBJECT, jar), without)
    code, line = replay("--command", command)
    assert code == 3
    assert expected in line


@pytest.mark.long
def test_jars_of_two_releases_are_no_violation(tools: Tools, replay: Replay) -> None:
    newer = tools.compile("newer", {"Bytes.java": BYTES})
    entry = tools.entry("org.apache.kafka.common.utils.Bytes.added();", newer)
    code, line = replay(SUBJECT, "--classpath", entry)
    assert code == 3
    assert line.endswith(
        "LRUCacheEntry (entry) needs org.apache.kafka.common.utils.Bytes.added(), "
        "which kafka-clients-4.3.1.jar lacks; use jars of one release"
    )


@pytest.mark.long
@pytest.mark.parametrize("error", ['NoSuchMethodError("boom")', 'NoClassDefFoundError("java/lang/String")'])
def test_a_linkage_error_of_the_class_under_test_is_a_violation(tools: Tools, replay: Replay, error: str) -> None:
    code, text = replay(SUBJECT, "--classpath", tools.entry(f"throw new {error};"))
    assert code == 1
    assert "K-LIVENESS-2" in text
    assert "stderr: at org.apache.kafka.streams.state.internals.LRUCacheEntry.<init>(LRUCacheEntry.java:" in text
