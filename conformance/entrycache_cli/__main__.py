"""Run the command `entrycache` as `python -m entrycache_cli`."""

from __future__ import annotations

from entrycache_cli.startup import begin


def main() -> None:
    """Run the command line."""
    begin("entrycache_cli.main")


if __name__ == "__main__":
    main()
