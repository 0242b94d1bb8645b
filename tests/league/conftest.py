"""Import the policies as plain Python, which is quicker than to compile them for small requests."""

from __future__ import annotations

import importlib

import numba

numba.config.DISABLE_JIT = True
for name in ("policies", "comparison", "sources"):
    importlib.import_module(f"entrycache_league.{name}")
numba.config.DISABLE_JIT = False
