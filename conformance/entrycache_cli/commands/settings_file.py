"""The options of commands that run something with the settings of a file."""

from __future__ import annotations

from typing import Any, Final

from entrycache_cli.commands.options import F
from entrycache_cli.parts import GivenSettings
from entrycache_cli.systems import CLI_PARTS
from entrycache_protocol.errors import UsageError
from entrycache_protocol.subject import TestedSubject

FILES: Final = tuple(parts.settings_file for parts in CLI_PARTS.values() if parts.settings_file is not None)


def settings_options(function: F) -> F:
    """The options of all systems that have such a file."""
    for file in FILES:
        function = file.options(function)
    return function


def given_settings(kwargs: dict[str, Any]) -> GivenSettings | None:
    """The settings that a command line names with `settings_options`, if any; they are taken out.

    Raises:
        UsageError: the options do not go together, or the file cannot be read.
    """
    found = [file.given(kwargs) for file in FILES]
    return next((given for given in found if given is not None), None)


def config_for(given: GivenSettings, subject: TestedSubject) -> dict[str, Any]:
    """The configuration, under the names that cases of the subject's system have for it.

    Raises:
        UsageError: the settings are of another system.
    """
    if given.system != subject.declaration.system.name:
        raise UsageError(f"{given.reader} is system {given.system}; {subject.name} is another one")
    return given.config
