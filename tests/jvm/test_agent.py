"""The agent rewrites a class with every kind of instruction that has no fixed length."""

from __future__ import annotations

from pathlib import Path

import pytest

from entrycache_conformance.java.driver import JavaTestClasspath, clock_sites, java_test_classpath
from entrycache_conformance.java.program import Program, compile_sources
from tests.support.jvm.driver import SUBJECT

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
    return java_test_classpath(SUBJECT)


@pytest.fixture(scope="module")
def sample(tools: JavaTestClasspath, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    (folder / "Sample.java").write_text(SAMPLE)
    compile_sources([folder / "Sample.java"], tools, folder / "out")
    return folder / "out"


def test_every_reading_of_the_clock_is_counted(sample: Path) -> None:
    assert clock_sites(SUBJECT, [sample]) == f"6 {NAME}\n"


def test_every_reading_is_virtual(sample: Path, tools: JavaTestClasspath) -> None:
    program = Program(tools.java, f"{sample}:{tools.agent}")
    done = program.run(NAME, options=[f"-Dentrycache.clock.require={NAME}", f"-javaagent:{tools.agent}"])
    assert done.stdout.splitlines() == ["[0, 0, 0, 1003, 0]", "[2500000, 2, 2500000, 2501003, 2500000]"]
    assert done.returncode == 0


def test_a_required_class_that_is_not_there_is_named(sample: Path, tools: JavaTestClasspath) -> None:
    program = Program(tools.java, str(sample))
    done = program.run(NAME, options=["-Dentrycache.clock.require=no.Such", f"-javaagent:{tools.agent}"])
    assert (done.returncode, done.stderr) == (
        3,
        "entrycache agent: required class no.Such is not on the class path\n",
    )
