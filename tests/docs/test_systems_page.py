"""The page docs/reference/systems.md has every setting, variant, level and rule of every system."""

from __future__ import annotations

import re

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_dev.pages import systems
from entrycache_protocol.errors import UsageError
from tests.support import ROOT


@pytest.mark.long
def test_the_page_is_as_it_is_written() -> None:
    assert (ROOT / systems.PAGE).read_text(encoding="utf-8") == systems.render_page()


def test_the_page_names_every_operation() -> None:
    words = set(re.findall(r"\w+", (ROOT / systems.PAGE).read_text(encoding="utf-8")))
    operations = {name for system in SYSTEMS.values() for name in system.ops}
    assert len(operations) > 60
    assert operations - words == set()


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_every_setting_has_a_meaning_and_nothing_else_has(system) -> None:  # type: ignore[no-untyped-def]
    meanings = systems.read_meanings(system.name)
    assert len(list(systems.setting_rows(system, meanings))) == len(meanings) > 0
    for wrong in ({**meanings, "unknown": "?"}, dict(list(meanings.items())[1:])):
        with pytest.raises(UsageError, match="must name the settings of the schema; not so"):
            list(systems.setting_rows(system, wrong))
