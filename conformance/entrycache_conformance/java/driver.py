"""Drivers of releases, and the command that serves one as a subject.

A `Driver` is built on first use. Every jar of its class path must have the checksum that `FAMILY/VERSION/jars.lock`
pins. `released_command` puts the driver, the jars of a user's class path and the pinned jars together into a command.
If a user's class path replaces no class under test, the run is refused, because it would test the release itself.
`java_test_classpath` returns what a stand-alone Java test of a release needs.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java import build, releases
from entrycache_protocol.errors import MissingPrerequisite, UsageError
from entrycache_protocol.system import Family


class Driver(NamedTuple):
    """A driver that is built."""

    folder: Path
    release: releases.Release
    jars: tuple[Path, ...]
    """The pinned class path, without the driver's own jars."""
    lock: Path
    """The file that pins them."""

    @property
    def agent(self) -> Path:
        """The jar of the Java agent that gives the released classes a virtual clock."""
        return self._own_jar("agent")

    @property
    def adapter(self) -> Path:
        """The jar of the adapter."""
        return self._own_jar(self.release.family.name)

    @property
    def own_jars(self) -> tuple[Path, ...]:
        """The driver's own jars, which come first."""
        return (*(self._own_jar(module) for module in self.release.family.modules), self.adapter)

    @property
    def clock_sites(self) -> Path:
        """The file that says how often each released class reads the clock."""
        return self.folder / "clock.sites"

    @property
    def tested_jar(self) -> Path:
        """The jar that holds the classes under test."""
        return self.jar(self.release.tested_jar)

    def jar(self, name: str) -> Path:
        """Return one jar of the pinned class path by the beginning of its name."""
        return next(jar for jar in self.jars if jar.name.startswith(name))

    def _own_jar(self, module: str) -> Path:
        return self.folder / jar_name(module)


def jar_name(module: str) -> str:
    """Return the file name that Maven gives the jar of a module."""
    return f"entrycache-{module}.jar"


def build_driver(release: releases.Release) -> Driver:
    """Return the driver of a release, and build it first if it is not there. A second process waits.

    Raises:
        UsageError: the folder of the release has no file that pins the jars.
        MissingPrerequisite: what the build needs is not there, or a jar is not the pinned one.
    """
    if not release.lock.is_file():
        own = f"{release.family.name}/{release.version}"
        raise UsageError(
            f"{release.lock} is missing; expected the sha256 and the name of each jar; write it with: "
            f"cd {releases.maven_project()} && mvn -q -pl {own} -am package && "
            f"(cd {own}/target/lib && sha256sum *.jar) > {own}/{release.lock.name}"
        )
    folder = build.build_part(driver_part(release))
    return Driver(folder, release, verify_jars(folder), release.lock)


def missing_prerequisite(release: releases.Release) -> str:
    """Return why a release cannot run here, in one line; empty if it can. A build that was not tried may still fail."""
    try:
        build.find_java(release.java)
    except MissingPrerequisite as missing:
        return str(missing)
    return build.missing_tool(driver_part(release))


def driver_part(release: releases.Release) -> build.BuildPart:
    """Return what must be built for a release. It depends on no other release."""
    family = release.family.name
    own = f"{family}/{release.version}"
    poms = sorted((releases.maven_project() / own).rglob("pom.xml"))
    places = {module: module for module in release.family.modules} | {family: own}

    def keep(work: Path, result: Path) -> None:
        (work / own / "target" / "lib").rename(result / "lib")
        for module, place in places.items():
            (work / place / "target" / jar_name(module)).rename(result / jar_name(module))
        for pinned in (*(work / own).glob("*.lock"), *(work / own).glob("*.sites")):
            shutil.copyfile(pinned, result / pinned.name)

    return build.BuildPart(
        name=f"{family}-{release.version}",
        what=f"driver of {release}",
        modules=tuple(pom.parent.relative_to(releases.maven_project()).as_posix() for pom in poms),
        depends_on=(
            "pom.xml",
            f"{family}/pom.xml",
            *release.family.modules,
            *release.family.shares,
            f"{family}/src",
            own,
        ),
        keep=keep,
    )


@cache
def verify_jars(folder: Path) -> tuple[Path, ...]:
    """Return the pinned jars after checking that each has its pinned checksum."""
    jars = {jar.name: jar for jar in (folder / "lib").iterdir()}
    check_jars(jars, folder / "jars.lock")
    return tuple(jars[name] for name in sorted(jars))


def check_jars(jars: Mapping[str, Path], lock: Path) -> None:
    """Hold jars, by their names, to a file of checksums.

    Raises:
        MissingPrerequisite: one is not the pinned one, is missing or is not pinned.
    """
    pinned = _read_lock(lock)
    for name in sorted(pinned.keys() | jars.keys()):
        got = hashlib.sha256(jars[name].read_bytes()).hexdigest() if name in jars else "no such file"
        if got != pinned.get(name):
            raise MissingPrerequisite(
                f"{jars.get(name, lock.parent / 'lib' / name)} has sha256 {got}, "
                f"expected {pinned.get(name, 'no such file')}; "
                "remove the folder (and the file in the local Maven repository) and try again"
            )


def write_lock(folder: Path) -> str:
    """Return the text of a file that pins the jars of a folder."""
    jars = sorted(folder.iterdir(), key=lambda jar: jar.name)
    return "".join(f"{hashlib.sha256(jar.read_bytes()).hexdigest()}  {jar.name}\n" for jar in jars)


def _read_lock(lock: Path) -> dict[str, str]:
    """Return the checksum of each jar by its name."""
    pinned = {}
    for number, line in enumerate(lock.read_text("utf-8").splitlines(), 1):
        parts = line.split()
        if len(parts) != 2:
            raise UsageError(f"{lock}, line {number}: {line!r}; expected a sha256 and the name of a jar")
        pinned[parts[1]] = parts[0]
    return pinned


_DRIVER_ONLY: Final = ("gson-",)
_CLOCK: Final = "-Dentrycache.clock."


class JavaTestClasspath(NamedTuple):
    """The tools and the class path of a stand-alone Java test."""

    java: str
    javac: str
    classpath: str
    """The jar under test, its dependencies, and for Pulsar the agent's jar, which contains the clock."""
    agent: Path | None
    """The jar for ``-javaagent:``; Kafka Streams needs none."""
    options: tuple[str, ...]
    """The Java options of a case that needs the clock: the agent, and the classes that read the clock."""


def java_test_classpath(subject: str, classpath: str | None = None) -> JavaTestClasspath:
    """Return what a stand-alone Java test of a release such as ``pulsar:4.2.4`` needs.

    Raises:
        UsageError: there is no driver for it, or the class path is not right.
        MissingPrerequisite: what its driver needs is not there, or a JDK.
    """
    front = front_entries(classpath)
    release = releases.require_release(subject)
    java = build.find_java(release.java, compiler=True)
    built = build_driver(release)
    jars = [jar for jar in built.jars if not jar.name.startswith(_DRIVER_ONLY)]
    agent = built.agent if release.family.has_agent else None
    every = join_classpath([*front, *jars, *([] if agent is None else [agent])])
    clocked = (option for option in release.family.options if option.startswith(_CLOCK))
    options = () if agent is None else (f"-javaagent:{agent}", *clocked)
    return JavaTestClasspath(java.program, str(java.tool("javac")), every, agent, options)


def pinned_jar(subject: str, name: str) -> Path:
    """Return one jar of a driver's pinned class path by the beginning of its name."""
    return build_driver(releases.require_release(subject)).jar(name)


def jar_under_test(subject: str) -> Path:
    """Return the jar of a release, such as ``pulsar:4.2.4``, that holds the classes under test."""
    return build_driver(releases.require_release(subject)).tested_jar


def clock_sites(subject: str, paths: list[Path]) -> str:
    """Return the clock calls in jars and folders, one class per line with its count and name."""
    release = releases.require_release(subject)
    java = build.find_java(release.java).program
    argv: list[str | Path] = [java, "-XX:+UseSerialGC", "-jar", build_driver(release).agent, *paths]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def join_classpath(paths: Iterable[Path]) -> str:
    """Return the class path of these files and folders."""
    return os.pathsep.join(str(path) for path in paths)


def front_entries(classpath: str | None) -> list[Path]:
    """Return the entries of a class path that a user gives.

    Raises:
        UsageError: there is none, or one is not there.
    """
    paths = [] if classpath is None else [Path(entry) for entry in classpath.split(os.pathsep) if entry]
    for path in paths:
        if not path.exists():
            raise UsageError(f"class path entry {path} does not exist; give jars or folders of classes")
    if classpath is not None and not paths:
        raise UsageError("the class path is empty; give jars or folders of classes")
    return [path.resolve() for path in paths]


def count_replaced_classes(front: Sequence[Path], built: Driver) -> dict[Path, int]:
    """Count the classes of the jar under test that come from each entry.

    Raises:
        UsageError: an entry is no jar and no folder, none of its classes come from any, or those before hide an entry.
    """
    tested = list_classes(built.tested_jar)
    left = set(tested)
    counts = {}
    for path in front:
        own = list_classes(path) & tested
        replaced = left & own
        if own and not replaced:
            raise UsageError(
                f"{path}: entries before it on the class path hold all its classes of {built.tested_jar.name}, so none "
                "of it would be tested; leave those entries out, or put it first"
            )
        counts[path] = len(replaced)
        left -= replaced
    if front and len(left) == len(tested):
        example = min(tested, key=lambda name: (name.count("/"), "$" in name, name))
        raise UsageError(
            f"{', '.join(map(str, front))}: replaces no class of {built.tested_jar.name}, so the release itself would "
            f"be tested; give jars, or folders in which a class lies as {example}"
        )
    return counts


def list_classes(path: Path) -> frozenset[str]:
    """Return the class files of a jar or a folder by their names in it.

    Raises:
        UsageError: it is neither.
    """
    if path.is_dir():
        return frozenset(file.relative_to(path).as_posix() for file in path.rglob("*.class"))
    try:
        with zipfile.ZipFile(path) as jar:
            return frozenset(name for name in jar.namelist() if name.endswith(".class"))
    except FileNotFoundError:
        raise UsageError(f"{path} is not there; expected a jar or a folder of classes") from None
    except (OSError, zipfile.BadZipFile):
        raise UsageError(f"class path entry {path} is no jar and no folder of classes") from None


JAVA_WARNS_OF_UNSAFE: Final = 24
"""The first Java version that warns of the memory access of netty and jctools, unless an option forbids it."""


def is_released(subject: str) -> bool:
    """Return whether a name such as ``pulsar:4.2.4`` means a released JVM cache."""
    name, colon, _ = subject.partition(":")
    return bool(colon and releases.families_named(name))


def released_command(subject: str, classpath: str | None = None) -> list[str]:
    """Return the command that serves a released cache, such as ``pulsar:4.2.4``, on stdin and stdout.

    ``classpath`` (jars and folders of classes) goes in front of the pinned dependencies. The clock calls are then
    printed on stderr instead of being compared with the pinned ones, and so is the number of replaced classes.

    Raises:
        UsageError: there is no driver for it, or the class path is not right, or replaces no class under test.
        MissingPrerequisite: what its driver needs is not there.
    """
    release = releases.require_release(subject)
    build.find_java(release.java)  # before anything is built
    return driver_command(build_driver(release), front_entries(classpath))


def driver_command(built: Driver, front: list[Path], *, pinned: bool = True) -> list[str]:
    """Return the command of a driver that is built, with these class path entries in front of its jars.

    If the jars are not `pinned`, the clock calls are printed on stderr too.

    Raises:
        UsageError: the class path replaces no class under test.
        MissingPrerequisite: there is no Java that is new enough.
    """
    release = built.release
    java = build.find_java(release.java)
    for path, count in count_replaced_classes(front, built).items():
        note = _group_note(path, release.family) if count else ""
        print(f"entrycache: {path}: {count} classes of {built.tested_jar.name} come from here{note}", file=sys.stderr)
    return [
        java.program,
        "-XX:+UseSerialGC",
        "-XX:+DisplayVMOutputToStderr",
        *(["--sun-misc-unsafe-memory-access=allow"] if java.major >= JAVA_WARNS_OF_UNSAFE else []),
        *release.family.options,
        *(_virtual_clock_options(built, compared=pinned and not front) if release.family.has_agent else []),
        "-cp",
        join_classpath([*built.own_jars, *front, *built.jars]),
        release.family.main,
    ]


def _group_note(path: Path, family: Family) -> str:
    """Return a note about a jar of another group or artifact than the family's; empty if it is the same or unknown."""
    names = [] if path.is_dir() else read_coordinates(path)
    if len(names) != 1 or names[0] == family.coordinates:
        return ""
    return f"; it is {names[0]}, and the driver is for {family.coordinates}: give that jar unless you mean this one"


def read_coordinates(jar: Path) -> list[str]:
    """Return group and artifact of each Maven project that a jar says it was built from."""
    with zipfile.ZipFile(jar) as file:
        parts = [name.split("/") for name in file.namelist()]
    is_project = [each for each in parts if each[:2] == ["META-INF", "maven"] and each[-1] == "pom.properties"]
    return [f"{each[2]}:{each[3]}" for each in is_project if len(each) == 5]


def _virtual_clock_options(built: Driver, *, compared: bool) -> list[str]:
    clock = f"-Dentrycache.clock.sites={built.clock_sites}" if compared else "-Dentrycache.clock.print=true"
    return [clock, f"-javaagent:{built.agent}"]
