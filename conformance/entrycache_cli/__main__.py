"""`python -m entrycache_conformance` is the command `entrycache`."""

from entrycache_cli.main import main

if __name__ == "__main__":
    main()
