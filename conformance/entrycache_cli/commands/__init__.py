"""The commands of `entrycache`: a module each, listed here with one line of help.

`entrycache --help` prints this list and imports no command; `entrycache_cli.main` imports the module of a command when
it is asked for. `ALIASES` maps a former name to the present one for one version. `MOVED` says where a former command
went. `TRACE_COMMANDS` lists what `entrycache trace` adds from other modules.
"""

from types import MappingProxyType
from typing import Final

COMMANDS: Final = MappingProxyType(
    {
        "audit": "Check a recorded trace against the rules, on Spark or DuckDB.",
        "campaign": "Play seeded cases on several subjects, for a long time.",
        "conform": "Check your cache, or a release, against the rules.",
        "diff": "Report where the answers of two subjects differ.",
        "doctor": "List the tools and packages that this machine lacks.",
        "faults": "List the seeded faults.",
        "findings": "List what was found in released caches, or print one finding.",
        "init": "Write a first adapter in one of five languages.",
        "policies": "Replay the same requests through many cache policies.",
        "prove": "Prove the rules for the reference, or check bounded models.",
        "replay": "Play a case file again, or print it as a test.",
        "report": "Print results as JUnit, HTML, Markdown or a badge.",
        "rules": "Print the rules, or one rule with its example.",
        "serve": "Speak the protocol for a subject on stdin and stdout.",
        "settings": "Show what a broker.conf sets, and what it means.",
        "share": "Show a thread's share of Kafka Streams' record cache.",
        "smoke": "Play one small case for each operation of an adapter.",
        "subjects": "List what can be tested here, and why the rest cannot.",
        "trace": "Generate, record, convert and inspect traces.",
        "vectors": "Write or play cases with outcomes, for any test runner.",
        "versions": "Show which release was checked against which rules.",
    }
)
"""Every command with its help, which fits on one line of `entrycache --help`."""

ALIASES: Final = MappingProxyType({"league": "policies", "museum": "faults"})
"""Former names of commands, which work for one version and are not listed."""

MOVED: Final = MappingProxyType({"bench": "bench", "bench-audit": "bench-audit"})
"""Former commands that only contributors need, with their names in `python -m entrycache_dev`."""

TRACE_COMMANDS: Final = MappingProxyType(
    {
        "explain": "entrycache_cli.commands.simulate:explain_command",
        "simulate": "entrycache_cli.commands.simulate:simulate_command",
    }
)
"""Commands of the group `trace` that stand in other modules, as `module:name`."""
