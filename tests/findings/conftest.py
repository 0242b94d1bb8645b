"""The compiled fixes of findings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from entrycache_protocol.errors import MissingPrerequisite
from tests.support.findings import Page
from tests.support.jvm.fixes import fixed, release_of_fixes, sources_jar


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Page], Path]:
    """Return the compiled fix of a page, made at its first use."""
    folder = tmp_path_factory.mktemp("fixes")
    jars: dict[str, Path] = {}
    folders: dict[str, Path] = {}

    def of(page: Page) -> Path:
        release = release_of_fixes(page)
        try:
            if release.subject not in jars:
                jars[release.subject] = sources_jar(release, folder)
            if page.name not in folders:
                folders[page.name] = fixed(release, page.fixes, jars[release.subject], folder / page.name)
        except MissingPrerequisite as missing:
            pytest.skip(str(missing))
        return folders[page.name]

    return of
