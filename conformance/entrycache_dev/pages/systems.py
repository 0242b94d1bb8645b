"""Write docs/reference/systems.md: the settings, variants, levels and rules of each system, and the profiles.

`python -m entrycache_dev.pages.systems` writes it. The data comes from the systems themselves; the meanings of settings
come from `spec/<system>/settings.toml`.
"""

import json
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from entrycache_conformance.levels import PROFILES, find_rule_levels
from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core.checkout import locate_spec_folder
from entrycache_protocol import errors, files, schema
from entrycache_protocol.system import AnySystem

PAGE: Final = Path("docs/reference/systems.md")


def render_page() -> str:
    """Return the page in Markdown."""
    environment = Environment(
        loader=PackageLoader("entrycache_dev.pages", "."), undefined=StrictUndefined, keep_trailing_newline=True
    )
    systems = [_system_data(system) for system in SYSTEMS.values()]
    return environment.get_template("systems.md.j2").render(systems=systems, profiles=PROFILES)


def _system_data(system: AnySystem) -> dict[str, Any]:
    return {
        "name": system.name,
        "settings": list(setting_rows(system, read_meanings(system.name))),
        "variants": [
            (name, _code_list(json.dumps(value).strip('"') for value in kind["enum"]))
            for name, kind in schema.object_schema(system.model.variants)["properties"].items()
        ],
        "levels": list(_level_rows(system)),
    }


def read_meanings(system: str) -> dict[str, str]:
    """Read the meaning of each setting of a system from `spec/<system>/settings.toml`."""
    return tomllib.loads((locate_spec_folder() / system / "settings.toml").read_text("utf-8"))


def setting_rows(system: AnySystem, meanings: dict[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield each setting with its type, default and meaning.

    Raises:
        UsageError: a setting has no meaning, or a meaning has no setting.
    """
    kinds = schema.config_schema(system)["properties"]
    if kinds.keys() != meanings.keys():
        differ = ", ".join(sorted(kinds.keys() ^ meanings.keys()))
        raise errors.UsageError(
            f"spec/{system.name}/settings.toml: must name the settings of the schema; not so {differ}"
        )
    for name, kind in kinds.items():
        yield name, _kind_text(kind), json.dumps(kind["default"]), meanings[name]


def _kind_text(kind: dict[str, Any]) -> str:
    """Return a type and its bounds in words."""
    if "anyOf" in kind:
        return " or ".join(_kind_text(one) for one in kind["anyOf"])
    if "enum" in kind:
        return _code_list(kind["enum"])
    bounds = f" {kind['minimum']} to {kind['maximum']}" if "minimum" in kind else ""
    return f"{kind['type']}{bounds}"


def _level_rows(system: AnySystem) -> Iterator[tuple[str, str, str]]:
    """Yield each level with the operations that it adds and the rules that it is the first to check."""
    known: set[str] = set()
    levels = find_rule_levels(system)
    for level in system.levels:
        ops = [name for name in system.ops_up_to(level) if name not in known]
        known.update(ops)
        yield (
            level,
            _code_list(ops),
            ", ".join(sorted((rule for rule in levels if levels[rule].level == level), key=_rule_order)),
        )


def _rule_order(rule: str) -> tuple[str, int]:
    family, _, number = rule.rpartition("-")
    return family, int(number)


def _code_list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    files.write_text(PAGE, render_page())
