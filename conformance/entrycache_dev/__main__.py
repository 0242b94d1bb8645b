"""`python -m entrycache_dev COMMAND`: the commands of contributors, which are not in the wheel."""

from entrycache_cli.__main__ import begin

if __name__ == "__main__":
    begin("entrycache_dev.commands")
