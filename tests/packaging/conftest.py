"""The source archive and the wheel that is built from it, built once for all tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of both; the wheel is built from the unpacked archive, which is deleted afterwards."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "-q", "--outdir", str(folder), str(ROOT)], check=True)
    return folder
