"""Kernels run as plain Python here: on small requests that is quicker than to compile them. Others stay compiled."""

from __future__ import annotations

import importlib

import numba

numba.config.DISABLE_JIT = True
for name in ("policies", "comparison", "sources"):
    importlib.import_module(f"entrycache_league.{name}")
numba.config.DISABLE_JIT = False
