"""The requirements of extras are ranges, whose lower ends `make extras-lowest` tests; only `dev` has pins."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support import ROOT

SELF = "entrycache"


def project() -> dict[str, Any]:
    project_table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project_table


def requirements(texts: list[str]) -> list[Requirement]:
    return [each for each in map(Requirement, texts) if canonicalize_name(each.name) != SELF]


def offered(project_table: dict[str, Any]) -> list[Requirement]:
    """Return the requirements that a user may have."""
    extras = project_table["optional-dependencies"]
    own = [text for name, texts in extras.items() if name != "dev" for text in texts]
    return requirements([*project_table["dependencies"], *own])


def problems(project_table: dict[str, Any]) -> list[str]:
    """Return a message for each requirement that is no range, and for each pin of ours outside of its range."""
    messages = []
    for each in offered(project_table):
        operators = {part.operator for part in each.specifier}
        if ">=" not in operators or "==" in operators:
            messages.append(f"{each} is no range with a lower end")
    pinned = {
        canonicalize_name(each.name): each for each in requirements(project_table["optional-dependencies"]["dev"])
    }
    for each in offered(project_table):
        pin = pinned.get(canonicalize_name(each.name))
        exact = [part.version for part in pin.specifier if part.operator == "=="] if pin else []
        messages += [f"dev pins {pin}, outside of {each}" for one in exact if not each.specifier.contains(one)]
    return messages


def test_extras_are_ranges_and_what_we_pin_lies_in_them() -> None:
    assert problems(project()) == []


def test_a_pin_for_users_and_one_outside_are_seen() -> None:
    project_table = {
        "dependencies": ["click"],
        "optional-dependencies": {
            "trace": ["duckdb==2.0.0", "numpy>=1.26"],
            "dev": ["entrycache[trace]", "numpy==1.0"],
        },
    }
    assert problems(project_table) == [
        "click is no range with a lower end",
        "duckdb==2.0.0 is no range with a lower end",
        "dev pins numpy==1.0, outside of numpy>=1.26",
    ]


def test_what_is_installed_lies_in_the_ranges() -> None:
    outside = [str(each) for each in offered(project()) if not each.specifier.contains(Version(version(each.name)))]
    assert outside == []


def test_what_is_not_permissive_is_for_us_alone() -> None:
    assert "libcachesim" not in {canonicalize_name(each.name) for each in offered(project())}
