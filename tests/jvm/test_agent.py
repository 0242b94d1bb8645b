"""The agent on a class made to be hard to walk through: every kind of instruction without a fixed length."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from entrycache_conformance.subjects.jvm import JavaTestClasspath, clock_sites, java_test_classpath
from tests.support.jvm.driver import VERSION

NAME = "org.apache.bookkeeper.mledger.Sample"

SAMPLE = """
package org.apache.bookkeeper.mledger;

import java.util.function.LongSupplier;

public class Sample {{
    static final LongSupplier REFERENCE = System::nanoTime;

    static long dense(int i) {{
        switch (i) {{
            case 0: return System.nanoTime();
            case 1: return System.currentTimeMillis();
            case 2: return 2;
            default: return System.nanoTime() + 3;
        }}
    }}

    static long sparse(int i) {{
        switch (i) {{
            case -70000: return 4;
            case 70000: return System.nanoTime();
            default: return System.identityHashCode(null);
        }}
    }}

    static long wide() {{
        {}
        int far = 1;
        far += 1000;
        Object[][] array = new Object[2][3];
        return System.nanoTime() + far + array.length;
    }}

    static void show(long... values) {{
        System.out.println(java.util.Arrays.toString(values));
    }}

    public static void main(String[] arguments) {{
        show(dense(0), dense(1), sparse(70000), wide(), REFERENCE.getAsLong());
        entrycache.agent.Clock.advance(2_500_000);
        show(dense(0), dense(1), sparse(70000), wide(), REFERENCE.getAsLong());
    }}
}}
""".format(" ".join(f"long v{i} = {i};" for i in range(130)))


@pytest.fixture(scope="module")
def tools(released: list[str]) -> JavaTestClasspath:
    return java_test_classpath(VERSION)


@pytest.fixture(scope="module")
def compiled(tools: JavaTestClasspath, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    (folder / "Sample.java").write_text(SAMPLE)
    subprocess.run([tools.javac, "-cp", str(tools.agent), "-d", folder / "out", folder / "Sample.java"], check=True)
    return folder / "out"


def test_every_reading_of_the_clock_is_counted(compiled: Path) -> None:
    assert clock_sites(VERSION, [compiled]) == f"6 {NAME}\n"


def test_every_reading_is_virtual(compiled: Path, tools: JavaTestClasspath) -> None:
    done = subprocess.run(
        [
            tools.java,
            f"-Dentrycache.clock.require={NAME}",
            f"-javaagent:{tools.agent}",
            "-cp",
            f"{compiled}:{tools.agent}",
            NAME,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["[0, 0, 0, 1003, 0]", "[2500000, 2, 2500000, 2501003, 2500000]"]


def test_a_required_class_that_is_not_there_is_named(compiled: Path, tools: JavaTestClasspath) -> None:
    done = subprocess.run(
        [tools.java, "-Dentrycache.clock.require=no.Such", f"-javaagent:{tools.agent}", "-cp", str(compiled), NAME],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        4,
        "entrycache agent: required class no.Such is not on the class path\n",
    )
