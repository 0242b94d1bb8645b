"""What pytest calls. It is loaded with every pytest where the suite is installed, and imports no more than that."""

from __future__ import annotations

from typing import Any, Final

import pytest

OPTIONS: Final = {
    "subject": "Hold SUBJECT to the rules, a test a rule and level: a name, or MODULE:CLASS of a Subject.",
    "command": "Likewise a program that speaks the protocol on stdin and stdout.",
    "system": "The system, where a subject offers several.",
    "levels": "Levels, with commas; default: all that it offers something of.",
    "profile": "How long to run: dev, ci or nightly (default: dev).",
    "seed": "The seed of all choices (default: 0).",
    "known": "Failures that are known (TOML): an entry is a test that is expected to fail.",
    "failures": "The folder for case files (default: entrycache-failures).",
}

FIXTURE_OPTIONS: Final = ("seed", "failures")
"""Those that say something without a subject too."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Each option can stand in the ini file too."""
    group = parser.getgroup("entrycache", "conformance of a cache")
    for name, text in OPTIONS.items():
        group.addoption(f"--entrycache-{name}", dest=f"entrycache_{name}", default=None, help=text)
        parser.addini(f"entrycache_{name}", text, default="")


def pytest_configure(config: pytest.Config) -> None:
    """A line of somebody's CI that has lost its subject fails: it would test nothing of ours, and pass."""
    given = {name: value for name in OPTIONS if (value := config.getoption(f"entrycache_{name}")) is not None}
    for name in sorted(given.keys() & {"subject", "command"}):
        if not str(given[name]).strip():
            raise pytest.UsageError(f"entrycache: --entrycache-{name} is empty; expected what it holds to the rules")
    alone = sorted(given.keys() - {"subject", "command", *FIXTURE_OPTIONS})
    if alone and not (option_value(config, "subject") or option_value(config, "command")):
        raise pytest.UsageError(f"entrycache: --entrycache-{alone[0]} goes with --entrycache-subject or -command")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the tests of the subject, before -k and -m leave some out."""
    asked = {name: option_value(config, name) for name in OPTIONS}
    if asked["subject"] or asked["command"]:
        from entrycache_cli.plugin.items import collect_tests  # noqa: PLC0415 -- see above

        items += collect_tests(session, asked)


def option_value(config: pytest.Config, name: str) -> str:
    """What the command line says, else the ini file; empty where neither does."""
    given = config.getoption(f"entrycache_{name}")
    return str(config.getini(f"entrycache_{name}")) if given is None else str(given)


@pytest.fixture
def entrycache(request: pytest.FixtureRequest) -> Any:
    """Holds a `Subject` class to the rules, in the process of the test: `entrycache(MyCache, levels=["range"])`."""
    from entrycache_cli.plugin.items import Checks  # noqa: PLC0415 -- see above

    config = request.config
    return Checks(option_value(config, "seed"), option_value(config, "failures"))
