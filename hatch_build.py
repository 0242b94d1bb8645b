"""Add the list of the tests of each rule to a wheel, which has no tests."""

import json
import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TestListing(BuildHookInterface):  # type: ignore[type-arg]
    """The hook of a build; it writes `entrycache_evidence/tests.json`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the list, and let the wheel have it."""
        root, out = Path(self.root), Path(self.directory) / "tests.json"
        found = runpy.run_path(str(root / "conformance/entrycache_evidence/core/marked_tests.py"))
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(found["find_marked_tests"](root)), encoding="utf-8")
        build_data["force_include"][str(out)] = "entrycache_evidence/tests.json"
