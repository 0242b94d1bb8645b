"""Kernels run as plain Python here: on small requests that is quicker than to compile them."""

from __future__ import annotations

import numba

numba.config.DISABLE_JIT = True
