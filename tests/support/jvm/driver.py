"""Talks to a driver process: requests in, answers out."""

from __future__ import annotations

import json
import subprocess
from typing import Any, Final

from entrycache_conformance.java.releases import example_release

RELEASE: Final = example_release("pulsar")
SUBJECT: Final = RELEASE.subject
"""The release that the cases worked out by hand are about."""

Step = dict[str, Any]


def talk(command: list[str], *requests: object, timeout: float = 60) -> list[dict[str, Any]]:
    """Sends all requests at once and reads all answers; the process must end by itself, with 0."""
    text = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def run_request(number: int, config: Step, steps: list[Step]) -> dict[str, Any]:
    return {"cmd": "run", "id": number, "system": "pulsar-pip430", "config": config, "steps": steps}
