"""`python -m entrycache_cli.tour` is `make conform`: see `touring`."""

from __future__ import annotations

from entrycache_cli.startup import begin

if __name__ == "__main__":
    begin("entrycache_dev.demo")
