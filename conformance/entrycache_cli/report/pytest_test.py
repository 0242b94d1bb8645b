"""A case as one pytest file that starts the subject's command and speaks the protocol by itself."""

from __future__ import annotations

import json
import shlex
from typing import Any

TEMPLATE = '''"""A case that a cache failed. Run it with: pytest THIS_FILE. It needs pytest and the command below."""

import json
import subprocess

NOTE = {note}
RULES = {rules}
COMMAND = {command}
CASE = json.loads("""
{case}
""")
OUTCOMES = json.loads("""
{outcomes}
""")


def declared(expected, got):
    """The part of an observation that the subject shows; other outcomes whole."""
    if "queue" in expected and isinstance(got, dict):
        expected = {{name: part for name, part in expected.items() if name in got}}
        slots = got.get("queue") or [{{}}]
        if "queue" in expected and "requeues" not in slots[0]:
            expected["queue"] = [{{k: v for k, v in slot.items() if k != "requeues"}} for slot in expected["queue"]]
    return expected


def test_case():
    start = json.dumps({{"cmd": "start", "version": 1}})
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        def ask(request):
            process.stdin.write(request + "\\n")
            process.stdin.flush()
            line = process.stdout.readline()
            assert line, "the subject ended"
            return json.loads(line)

        try:
            offer = ask(start)["systems"][CASE["system"]]
            keys = offer.get("config", list(CASE["config"]))
            config = {{k: v for k, v in CASE["config"].items() if k in keys and k not in offer.get("fixed", {{}})}}
            run = {{"cmd": "run", "id": 1, "system": CASE["system"], "config": config, "steps": CASE["steps"]}}
            answer = ask(json.dumps(run))
        finally:
            process.kill()
    assert "outcomes" in answer, answer
    for index, (step, expected, got) in enumerate(zip(CASE["steps"], OUTCOMES, answer["outcomes"])):
        assert got == declared(expected, got), f"step {{index}} {{step}}: expected {{expected}}, got {{got}} {{RULES}}"
'''


def pytest_test(case: dict[str, Any], command: str | None) -> str:
    """The text of the test. `case` holds the reference's outcomes; `command` starts the subject.

    All that comes from elsewhere is a literal of ASCII, which JSON and Python write and read alike.

    Without a command the test runs our own fast cache.
    """
    argv = shlex.split(command) if command else ["entrycache", "serve", "fast"]
    shown = {"system": case["system"], "config": case["config"], "steps": case["steps"]}
    return TEMPLATE.format(
        note=json.dumps(case.get("note", "")),
        rules=json.dumps(case.get("rules", [])),
        command=json.dumps(argv),
        case=_lines(shown),
        outcomes=_lines(case["outcomes"]),
    )


def _lines(value: Any) -> str:
    """JSON for the inside of a string literal, a step a line."""
    text = json.dumps(value, separators=(", ", ": ")).replace("\\", "\\\\")
    return text.replace('}, {"', '},\n{"')
