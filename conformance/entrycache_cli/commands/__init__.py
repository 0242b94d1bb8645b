"""The commands of `entrycache`, a file each where they are more than a few lines."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

# --- listed
# The commands that there are; a system adds its own here.

COMMANDS: Final = MappingProxyType(
    {
        "audit": "Hold a recorded trace to the rules, on Spark or on DuckDB.",
        "bench": "Measure the fast caches, as ratios.",
        "campaign": "Play seeded cases on several subjects, for long.",
        "conform": "Hold your cache, or a release, to the rules.",
        "diff": "What one subject answers otherwise than another.",
        "doctor": "What this machine lacks of what the commands need.",
        "init": "Write an adapter to begin with, in one of five languages.",
        "league": "The same requests through many cache policies.",
        "museum": "List the planted faults.",
        "prove": "Proofs and exhausted worlds of the model.",
        "replay": "Play a case file again, or print it as a test.",
        "report": "Results as JUnit, HTML, Markdown or a badge.",
        "rules": "Print the rules, or one with its example.",
        "serve": "Speak the protocol for a subject on stdin and stdout.",
        "settings": "What a broker.conf sets, and what it means.",
        "share": "What a store gets of Kafka Streams' record cache.",
        "smoke": "One hand-made case an operation: is the adapter alive?",
        "subjects": "What can be tested here, and why the rest cannot.",
        "trace": "Make, record, convert and look at traces.",
        "vectors": "Cases with their outcomes, for any test runner.",
        "versions": "Which release was held to which rules.",
    }
)
"""Every command, and what it is for, short enough for a line of `entrycache --help`."""

ELSEWHERE: Final = MappingProxyType(
    {
        "league": "entrycache_cli.commands.policies",
        "settings": "entrycache_cli.commands.settings",
        "share": "entrycache_cli.commands.share",
    }
)
"""The commands of one system; any other has a module of its name among `commands`."""
