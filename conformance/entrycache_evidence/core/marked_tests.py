"""Find the tests that are marked with a rule.

The module imports nothing of ours, because the build of a wheel uses it too.
"""

import re
from pathlib import Path
from typing import Final

MARK: Final = re.compile(r"pytest\.mark\.rule\(([^)]*)\)")
TEST: Final = re.compile(r"^def (test_\w+)", re.MULTILINE)
RULE_ID: Final = re.compile(r"[A-Z]-[A-Z]+-\d+")


def find_marked_tests(root: Path) -> list[tuple[str, str]]:
    """Find each test of a checkout that is marked with a rule, with the rule."""
    marked_tests = []
    for path in sorted((root / "tests").rglob("test_*.py")):
        for block in path.read_text(encoding="utf-8").split("\n\n"):
            name = TEST.search(block)
            for marked in MARK.findall(block) if name else []:
                marked_tests += [(rule, name[1]) for rule in RULE_ID.findall(marked) if name]
    return marked_tests
