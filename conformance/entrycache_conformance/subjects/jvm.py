"""Released JVM caches as subjects: builds their drivers once, checks every jar, and says how to start one.

The sources of the drivers are a Maven project. It is built on first use into the user's cache folder
(``ENTRYCACHE_CACHE``, else ``~/.cache/entrycache``), under a name made of the content of the sources.
What a driver's class path holds is pinned by checksum in ``pulsar-VERSION.lock``.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_reference.errors import MissingPrerequisite, UsageError

JAVA_OLDEST: Final = 17
"""The released classes are compiled for it."""

JAVA_WARNS_OF_UNSAFE: Final = 24
"""From here on a JVM warns of the memory access that netty and jctools use, unless told not to."""

PROGRESS_SECONDS: Final = 2.0
"""A build that takes longer says so."""

_MAIN: Final = "org.apache.bookkeeper.mledger.impl.cache.Pip430Driver"
_MODULES: Final = ("agent", "protocol", "pulsar")
_DRIVER_ONLY: Final = ("gson-",)


class JavaTestClasspath(NamedTuple):
    """What compiles and runs a stand-alone Java test."""

    java: str
    javac: str
    classpath: str
    """The jar under test, its dependencies, and the agent's jar for the name of the clock."""
    agent: Path
    """The jar to give as ``-javaagent:``."""


class _Build(NamedTuple):
    java: str
    folder: Path
    jars: tuple[Path, ...]

    @property
    def agent(self) -> Path:
        return self.folder / "entrycache-agent.jar"


def pulsar_versions() -> tuple[str, ...]:
    """The releases of Pulsar that there is a driver for."""
    locks = _sources().glob("pulsar-*.lock")
    return tuple(sorted(lock.name.removeprefix("pulsar-").removesuffix(".lock") for lock in locks))


def pulsar_command(version: str, classpath: str | None = None) -> list[str]:
    """The command that serves a released Pulsar cache on stdin and stdout.

    ``classpath``, jars and folders of classes, goes in front of the pinned dependencies; the clock calls are
    then printed on stderr and not compared with the pinned ones.
    """
    front = _in_front(classpath)
    build = _build(version)
    own = [build.folder / f"entrycache-{module}.jar" for module in _MODULES]
    clock = (
        f"-Dentrycache.clock.sites={build.folder / f'pulsar-{version}.sites'}"
        if classpath is None
        else "-Dentrycache.clock.print=true"
    )
    return [
        build.java,
        "-XX:+UseSerialGC",
        "-XX:+DisplayVMOutputToStderr",
        *(["--sun-misc-unsafe-memory-access=allow"] if _major(build.java) >= JAVA_WARNS_OF_UNSAFE else []),
        "-Dio.netty.leakDetection.level=disabled",
        clock,
        f"-javaagent:{build.agent}",
        "-cp",
        _joined([*own, *front, *build.jars]),
        _MAIN,
    ]


def java_test_classpath(version: str, classpath: str | None = None) -> JavaTestClasspath:
    """What a stand-alone Java test needs: the jar under test, its dependencies, the agent."""
    front = _in_front(classpath)
    build = _build(version)
    jars = [jar for jar in build.jars if not jar.name.startswith(_DRIVER_ONLY)]
    javac = str(Path(build.java).resolve().with_name("javac"))
    return JavaTestClasspath(build.java, javac, _joined([*front, *jars, build.agent]), build.agent)


def pinned_jar(version: str, name: str) -> Path:
    """One jar of a driver's pinned class path, by the beginning of its name."""
    return next(jar for jar in _build(version).jars if jar.name.startswith(name))


def clock_sites(version: str, paths: list[Path]) -> str:
    """The clock calls in jars and folders: a line a class, its count and its name."""
    build = _build(version)
    counted = subprocess.run(
        [build.java, "-XX:+UseSerialGC", "-jar", build.agent, *paths],
        capture_output=True,
        text=True,
        check=True,
    )
    return counted.stdout


def _joined(paths: list[Path]) -> str:
    return os.pathsep.join(str(path) for path in paths)


def _in_front(classpath: str | None) -> list[Path]:
    paths = [] if classpath is None else [Path(entry) for entry in classpath.split(os.pathsep) if entry]
    for path in paths:
        if not path.exists():
            raise UsageError(f"class path entry {path} does not exist; give jars or folders of classes")
    if classpath is not None and not paths:
        raise UsageError("the class path is empty; give jars or folders of classes")
    return [path.resolve() for path in paths]


def _sources() -> Path:
    """The Maven project: beside the packages in a checkout, inside this one in an installed wheel."""
    here = Path(__file__).resolve()
    for folder in (here.parents[2] / "jvm", here.parents[1] / "jvm"):
        if (folder / "pom.xml").is_file():
            return folder
    raise MissingPrerequisite(
        "the sources of the JVM drivers are not there; "
        "expected a folder jvm beside or in entrycache_conformance; install entrycache anew"
    )


def _java() -> str:
    """A ``java`` that is new enough, of ``JAVA_HOME`` or of the path."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    if found is None:
        place = f"JAVA_HOME ({home})" if home else "the path"
        raise MissingPrerequisite(
            f"java is not on {place}; expected a JDK {JAVA_OLDEST} or later; install one or set JAVA_HOME"
        )
    major = _major(found)
    if major < JAVA_OLDEST:
        raise MissingPrerequisite(
            f"{found} is Java {major}; expected {JAVA_OLDEST} or later; install a newer JDK or set JAVA_HOME"
        )
    return found


@cache
def _major(java: str) -> int:
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', told)
    if version is None:
        raise MissingPrerequisite(
            f"{java} -version does not answer a version; expected a JDK {JAVA_OLDEST} or later; set JAVA_HOME"
        )
    return int(version[1])


def _build(version: str) -> _Build:
    known = pulsar_versions()
    if version not in known:
        raise UsageError(f"there is no driver for Pulsar {version}; known: {', '.join(known)}")
    java = _java()
    folder = _built(_sources(), java)
    return _Build(java, folder, _verified(folder, version))


@cache
def _verified(folder: Path, version: str) -> tuple[Path, ...]:
    """The pinned jars, if each of them is what it was when it was pinned."""
    lines = (folder / f"pulsar-{version}.lock").read_text("utf-8").splitlines()
    pinned = {name: digest for digest, name in (line.split() for line in lines)}
    jars = {jar.name: jar for jar in (folder / "lib").iterdir()}
    for name in sorted(pinned.keys() | jars.keys()):
        got = hashlib.sha256(jars[name].read_bytes()).hexdigest() if name in jars else "no such file"
        if got != pinned.get(name):
            raise MissingPrerequisite(
                f"{folder / 'lib' / name} has sha256 {got}, expected {pinned.get(name, 'no such file')}; "
                "remove the folder (and the file in the local Maven repository) and try again"
            )
    return tuple(jars[name] for name in sorted(pinned))


def _cache_folder() -> Path:
    chosen = os.environ.get("ENTRYCACHE_CACHE")
    return Path(chosen).resolve() if chosen else Path.home() / ".cache" / "entrycache"


def _files(sources: Path) -> list[Path]:
    """All that a build depends on."""
    every = (path for path in sources.rglob("*") if path.is_file() and path.suffix != ".md")
    return sorted(path for path in every if "target" not in path.relative_to(sources).parts)


def _built(sources: Path, java: str) -> Path:
    """The folder with the driver's jars, built from these very sources; whoever comes second waits."""
    content = hashlib.sha256()
    for path in _files(sources):
        content.update(f"{path.relative_to(sources).as_posix()}\0{path.stat().st_size}\0".encode())
        content.update(path.read_bytes())
    folder = _cache_folder() / "jvm" / content.hexdigest()[:20]
    if not folder.is_dir():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.with_suffix(".lock").touch()
        except OSError as error:
            raise MissingPrerequisite(
                f"{folder.parent} cannot be written ({error.strerror}); "
                "expected a folder to keep the JVM drivers in; set ENTRYCACHE_CACHE"
            ) from None
        with _progress("building the JVM drivers with mvn (once)"), _alone(folder.with_suffix(".lock")):
            if not folder.is_dir():
                _make(sources, folder, java)
    return folder


@contextlib.contextmanager
def _progress(what: str) -> Iterator[None]:
    line = f"entrycache: {what} ..."
    timer = threading.Timer(PROGRESS_SECONDS, lambda: print(line, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Among all processes; the system frees the lock of one that dies."""
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _make(sources: Path, folder: Path, java: str) -> None:
    """Builds beside the final place and moves there at the end, so that the folder is whole or absent."""
    mvn = shutil.which("mvn")
    if mvn is None:
        raise MissingPrerequisite("mvn is not on the path; expected Maven 3.6 or later; install it")
    if shutil.which("javac", path=str(Path(java).resolve().parent)) is None:
        raise MissingPrerequisite(
            f"there is no javac beside {java}; "
            f"expected a whole JDK {JAVA_OLDEST} or later; install one or set JAVA_HOME"
        )
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="building-") as scratch:
        work = Path(scratch) / "sources"
        for path in _files(sources):
            copy = work / path.relative_to(sources)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
        _run_maven(mvn, java, work, folder.with_suffix(".log"))
        result = Path(scratch) / "result"
        result.mkdir()
        (work / "pulsar" / "target" / "lib").rename(result / "lib")
        for module in _MODULES:
            name = f"entrycache-{module}.jar"
            (work / module / "target" / name).rename(result / name)
        for pinned in (*sources.glob("*.lock"), *sources.glob("*.sites")):
            shutil.copyfile(pinned, result / pinned.name)
        result.rename(folder)


def _run_maven(mvn: str, java: str, work: Path, log: Path) -> None:
    home = Path(java).resolve().parents[1]
    done = subprocess.run(
        [mvn, "-B", "-q", "package"],
        cwd=work,
        env={**os.environ, "JAVA_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    log.write_bytes(done.stdout)
    if done.returncode != 0:
        told = [line for line in done.stdout.decode(errors="replace").splitlines() if "[ERROR]" in line]
        raise MissingPrerequisite(
            f"mvn could not build the JVM drivers: {(told or ['no message'])[0].strip()}; "
            f"expected Maven Central or a filled local repository; see {log}"
        )
