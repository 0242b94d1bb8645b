"""Releases that have no folder: resolve their jars, choose a driver, and find the variants that they follow.

`open_unpinned` serves any version that Maven serves. Its jars come from Maven at the first use. Their checksums are
printed and kept (the *dynamic lock*), so that later runs use the same jars. The driver is that of the closest release
with a folder. If it does not fit, the next one is tried.

What a release does otherwise than the specification is declared by its driver as variants. An unpinned release may
differ: `fit_variants` plays the cases of the findings, each of which decides a variant, and chooses the variants under
which most answers are right.
"""

import contextlib
import dataclasses
import functools
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from entrycache_conformance import finding_cases
from entrycache_conformance.java import build, driver, releases
from entrycache_conformance.judge import Coverage, judge, run_reference
from entrycache_conformance.subjects import child
from entrycache_conformance.subjects.wrappers import FINDING_SEPARATOR, NarrowedSubject, lift_waivers
from entrycache_protocol import errors, server
from entrycache_protocol.case import Case, case_from_json, variants_to_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.subject import Answer, SkippedRun, TestedSubject, require_supported

OpenChild = Callable[[list[str], str], child.Child]
"""A function that starts a command as the subject of that name."""

LOCK: Final = "jars.lock"


class FittedSubject(NarrowedSubject):
    """The process of a driver, with the variants that its jars were seen to follow as its declaration."""

    def __init__(self, process: child.Child, declaration: Declaration) -> None:
        super().__init__(process, declaration)
        self.process = process


def open_unpinned(name: str, classpath: str | None, open_child: OpenChild) -> FittedSubject:
    """Open a version without a folder, such as ``kafka-streams:4.1.2``, and print its driver, lock and variants.

    Raises:
        UsageError: the version or the class path is not right.
        MissingPrerequisite: Maven does not serve the jars.
        BrokenAdapter: no driver fits the jars.
    """
    front = driver.front_entries(classpath)
    return _open_with_closest(name, name, lambda closest: resolve_jars(name, closest), front, open_child)


def open_jar(path: Path, classpath: str | None, open_child: OpenChild) -> FittedSubject:
    """Open a jar of classes under test, such as a local build. Its libraries are those of its version.

    If Maven does not serve that version, they are those of the closest release.

    Raises:
        UsageError: the jar is of no known kind, or has no version.
        MissingPrerequisite: what a driver needs is not there.
        BrokenAdapter: no driver fits the jar.
    """
    released = identify_jar(path)
    front = [path.resolve(), *driver.front_entries(classpath)]

    def find_libraries(closest: releases.Release) -> driver.Driver:
        if releases.find_release(released) is not None:
            return driver.build_driver(closest)
        try:
            return resolve_jars(released, closest)
        except errors.MissingPrerequisite as missing:
            _print(f"{released}: {missing}; the libraries of {closest} are used instead")
            return driver.build_driver(closest)

    return _open_with_closest(str(path), released, find_libraries, front, open_child)


def identify_jar(path: Path) -> str:
    """Return the name that a jar of classes under test would have as a release, such as ``kafka-streams:4.1.2``.

    Raises:
        UsageError: it holds no class of a known family, or does not say its version.
    """
    names = driver.list_classes(path)
    for family in releases.FAMILIES.values():
        package = family.main.rpartition(".")[0].replace(".", "/") + "/"
        if any(name.startswith(package) for name in names):
            version = _read_version(path)
            if version is None:
                example = f"{family.artifact}-4.0.0.jar"
                raise errors.UsageError(f"{path} does not say its version; expected it in the name, as in {example}")
            return f"{family.called}:{version}"
    known = ", ".join(sorted({family.coordinates for family in releases.FAMILIES.values()}))
    raise errors.UsageError(f"{path} holds no class of a known cache; expected a jar of {known}")


def _read_version(path: Path) -> str | None:
    """Return the version that a jar has in its properties or its name, without the mark of a snapshot."""
    with zipfile.ZipFile(path) as jar:
        files = [name for name in jar.namelist() if name.endswith(("/pom.properties", "-version.properties"))]
        texts = [jar.read(name).decode("utf-8", "replace") for name in files] if len(files) == 1 else []
    stated = next((match for text in texts if (match := re.search(r"^version=(\S+)$", text, re.MULTILINE))), None)
    match = stated or re.search(r"-(\d+(?:\.\d+)+(?:-\w+)?)\.jar$", path.name)
    return None if match is None else match[1].removesuffix("-SNAPSHOT")


def _open_with_closest(
    name: str,
    released: str,
    build_with: Callable[[releases.Release], driver.Driver],
    front: list[Path],
    open_child: OpenChild,
) -> FittedSubject:
    """Open the jars with the first driver that fits.

    Raises:
        BrokenAdapter: none fits; the error is that of the closest.
    """
    misfit: errors.BrokenAdapter | None = None
    for closest in releases.closest_releases(released):
        built = build_with(closest)
        argv = driver.driver_command(built, front, pinned=False)
        try:
            fitted = fit_variants(open_child(argv, name))
            _print_fit(name, fitted.declaration, closest, built)
            return fitted
        except errors.BrokenAdapter as error:
            misfit = misfit or error
    assert misfit is not None, "there is a release of each family"
    raise misfit


def resolve_jars(name: str, closest: releases.Release) -> driver.Driver:
    """Return the driver of the closest release over the jars of another version, which Maven resolves once.

    Raises:
        MissingPrerequisite: Maven does not serve the jars, or one is not what it was.
    """
    version = name.partition(":")[2]
    own = driver.build_driver(closest)
    part = driver.driver_part(closest)
    module = f"{closest.family.name}/{closest.version}"

    def keep(work: Path, result: Path) -> None:
        (work / module / "target" / "lib").rename(result / "lib")
        (result / LOCK).write_text(driver.write_lock(result / "lib"), "utf-8")

    resolved = build.build_part(
        part._replace(
            name=f"{closest.family.name}-{version}-like-{closest.version}",
            what=f"class path of {name}",
            keep=keep,
            properties=(f"{closest.family.group_name}={version}", "maven.main.skip=true"),
        )
    )
    jars = driver.verify_jars(resolved)
    return driver.Driver(own.folder, closest._replace(version=version), jars, resolved / LOCK)


def lift_repaired(subject: child.Child) -> FittedSubject:
    """Return a release with changed classes, without the waivers of the findings that the classes repair.

    The findings stay declared, so that a run can name them. If this fails, the subject is closed.

    Raises:
        BrokenSubject: a case breaks the subject.
    """
    try:
        repaired = finding_cases.find_repaired(subject)
        lifted = lift_waivers(subject, repaired).declaration if repaired else subject.declaration
    except BaseException:
        subject.close()
        raise
    if repaired:
        _print(f"{subject.name} is repaired by these classes and must follow the specification: {', '.join(repaired)}")
    return FittedSubject(subject, dataclasses.replace(lifted, findings=subject.declaration.findings))


def closest_release(name: str) -> releases.Release:
    """Return the pinned release of a name, or the closest one of an unpinned version or the path of a jar.

    Raises:
        UsageError: the version cannot be read, or the jar is of no known kind.
    """
    released = identify_jar(Path(name)) if name.endswith(".jar") else name
    return releases.find_release(released) or releases.closest_releases(released)[0]


def jar_under_test(name: str) -> Path:
    """Return the jar of classes under test of a version without a folder.

    Raises:
        UsageError: the version cannot be read.
        MissingPrerequisite: Maven does not serve it.
    """
    return resolve_jars(name, closest_release(name)).tested_jar


def _print_fit(name: str, declaration: Declaration, closest: releases.Release, built: driver.Driver) -> None:
    """Print the jars that are not pinned, the driver and the variants."""
    if built.lock != closest.lock:
        _print(f"{name} is not pinned; its jars are\n{built.lock.read_text('utf-8').rstrip()}")
    _print(f"{name} runs with the driver of {closest}; variants: {describe_variants(declaration)}")


def serve(fitted: FittedSubject) -> int:
    """Speak the protocol on stdin and stdout for a driver's process, and declare the variants that were found.

    Raises:
        BrokenSubject: the process ends or gives no answer.
    """
    declaration = fitted.declaration
    name = declaration.system.name
    answer = dict(fitted.process.start_answer)
    declared = {"variants": variants_to_json(declaration.base_config()), "findings": declaration.findings}
    answer["systems"] = {name: {**answer["systems"][name], **declared}}

    def play(request: dict[str, Any]) -> str:
        fitted.process.send(server.encode_line(request))
        return server.encode_line(fitted.process.receive())

    try:
        return server.serve_lines(lambda: answer, play)
    finally:
        fitted.close()


def describe_variants(declaration: Declaration) -> str:
    """Return the variants that differ from the default behaviour, for a message."""
    other = variants_to_json(declaration.base_config())
    return ", ".join(f"{name}={value}" for name, value in other.items()) or "none, the default behaviour"


def fit_variants(subject: child.Child) -> FittedSubject:
    """Return the subject with the variants under which most of its answers to the cases of findings are right.

    Variants that the cases do not decide stay as the subject declares them. A limit goes if the subject does not show
    the finding behind it. If this fails, the subject is closed.

    Raises:
        BrokenSubject: a case breaks the subject.
    """
    try:
        fitted = FittedSubject(subject, find_variants(subject))
        repaired = finding_cases.find_repaired(fitted)
        return FittedSubject(subject, lift_waivers(fitted, repaired).declaration) if repaired else fitted
    except BaseException:
        subject.close()
        raise


def find_variants(subject: TestedSubject) -> Declaration:
    """Return what the subject declares, with the variants under which most of its answers are right.

    A variant goes back to its default where another one now explains the same answers.

    Raises:
        BrokenSubject: a case breaks the subject.
    """
    declaration = subject.declaration
    played = list(_play_deciding_cases(subject))
    variants: Any = declaration.variants or declaration.system.model.variants()
    default = declaration.system.model.variants()

    @functools.cache
    def count(candidate: Any) -> int:
        return _count_right(played, candidate, declaration)

    while count(changed := _best_change(variants, count)) > count(variants):
        for name in (each.name for each in dataclasses.fields(default)):
            is_explained = count(_reset(variants, default, name)) < count(variants)
            if is_explained and count(_reset(changed, default, name)) == count(changed):
                changed = _reset(changed, default, name)
        variants = changed
    off = {f"variants.{each.name}" for each in dataclasses.fields(default) if _is_same(variants, default, each.name)}
    findings = {waiver: behind for waiver, behind in declaration.findings.items() if waiver not in off}
    return dataclasses.replace(declaration, variants=variants, findings=findings)


def _best_change(variants: Any, count: Callable[[Any], int]) -> Any:
    """Return the variants with the one other value under which most answers are right."""
    others = finding_cases.other_values(variants)
    return max((dataclasses.replace(variants, **{name: value}) for name, value in others), key=count, default=variants)


def _reset(variants: Any, default: Any, name: str) -> Any:
    return dataclasses.replace(variants, **{name: getattr(default, name)})


def _is_same(one: Any, other: Any, name: str) -> bool:
    return bool(getattr(one, name) == getattr(other, name))


def _play_deciding_cases(subject: TestedSubject) -> Iterator[tuple[Case, Answer]]:
    """Play the smoke cases of the system, and the cases of all findings that no limit excludes."""
    declaration = subject.declaration
    excluded = {
        finding
        for waiver, behind in declaration.findings.items()
        if not waiver.startswith("variants.")
        for finding in behind.split(FINDING_SEPARATOR)
    }
    cases = smoke_cases(declaration)
    for finding, own in finding_cases.load_finding_cases(declaration.system).items():
        cases += [] if finding in excluded else [each.case for each in own]
    for case in cases:
        case = dataclasses.replace(
            case, config=dataclasses.replace(case.config, variants=declaration.base_config().variants)
        )
        with contextlib.suppress(errors.UsageError):  # the case needs something that the subject does not offer
            require_supported(case, subject)
            answer = subject.play([case])[0]
            if not isinstance(answer, SkippedRun):
                yield case, answer


def smoke_cases(declaration: Declaration) -> list[Case]:
    """Return a short case of each operation. Every driver can play the first one unless it does not fit."""
    system = declaration.system
    return [
        case_from_json({"system": system.name, "steps": steps}, {system.name: system})
        for steps in system.cases.smoke.values()
    ]


def _count_right(played: list[tuple[Case, Answer]], variants: Any, declaration: Declaration) -> int:
    """Count the answers that are right under these variants."""
    count = 0
    for case, answer in played:
        varied = dataclasses.replace(case, config=dataclasses.replace(case.config, variants=variants))
        if not declaration.unsupported_reason(varied.config, varied.steps):
            count += judge(varied, run_reference(varied, Coverage()), answer, declaration) is None
    return count


def _print(line: str) -> None:
    print(f"entrycache: {line}", file=sys.stderr, flush=True)
