"""The presets of generated traces: each is in its module, and only that module is imported."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from entrycache_trace.generators.generate import PRESETS, systems_with_settings


def test_every_workload_is_a_preset() -> None:
    modules = {name: import_module(f"entrycache_trace.generators.{name}") for name in set(PRESETS.values())}
    workloads = {preset: name for name, module in modules.items() for preset in module.WORKLOADS}
    assert workloads == PRESETS
    assert systems_with_settings() == ["pulsar-pip430"]


@pytest.mark.parametrize("preset", ["windowed-aggregation", "ring-copies"])
def test_a_preset_imports_the_workload_of_its_system_only(preset: str) -> None:
    code = (
        "import sys; from entrycache_trace.generators.generate import load_workload; "
        f"load_workload({preset!r}); "
        "print(*(name for name in sys.modules if name.startswith('entrycache_trace.generators.')))"
    )
    names = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(names) == {"entrycache_trace.generators.generate", f"entrycache_trace.generators.{PRESETS[preset]}"}
