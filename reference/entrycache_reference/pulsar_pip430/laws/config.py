"""The laws about `configure`. R-CONFIG-4 is about the grace period and stands with its laws."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430.config import Config, Settings
from entrycache_reference.pulsar_pip430.laws.law import REFUSED, Law, nothing_touched, refusable
from entrycache_reference.pulsar_pip430.laws.state import to_refuse
from entrycache_reference.pulsar_pip430.ops import Configure
from entrycache_reference.pulsar_pip430.outcomes import Done
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


def allowed(config: Config, pre: State, event: Configure, step: Step) -> bool:
    """These settings are not refused."""
    return not refusable(config, pre, event)


def only_these_settings(config: Config, pre: State, event: Configure, step: Step) -> bool:
    """R-CONFIG-1."""
    if step.outcome != Done():
        return False
    for name in Settings._fields:
        given = getattr(event, name)
        wanted = getattr(pre.settings, name) if given is ABSENT else given
        if getattr(step.state.settings, name) != wanted:
            return False
    return True


def refused_as_a_whole(config: Config, pre: State, event: Configure, step: Step) -> bool:
    """R-CONFIG-2."""
    return step.outcome == REFUSED and step.state.settings == pre.settings


def changes_what_is_filled(config: Config, pre: State, event: Configure, step: Step) -> bool:
    """The settings change while entries are cached."""
    return any(cache.entries for cache in pre.caches.values()) and not refusable(config, pre, event)


def only_settings(config: Config, pre: State, event: Configure, step: Step) -> bool:
    """R-CONFIG-3."""
    return nothing_touched(pre, step) and step.state.is_scheduled == pre.is_scheduled and not step.parts


LAWS: Final = (
    Law(Rule.CONFIG_1, (Configure,), allowed, only_these_settings, True),
    Law(Rule.CONFIG_2, (Configure,), to_refuse, refused_as_a_whole, True),
    Law(Rule.CONFIG_3, (Configure,), changes_what_is_filled, only_settings, True),
)
