"""Generate the operator `Decide` of the TLA+ modules from the decision table of the reference.

`python -m entrycache_dev.pages.tla_decision` writes spec/formal/pulsar-pip430/Decision.tla.
"""

import sys
from typing import Final

from entrycache_evidence.tlc.runner import locate_modules
from entrycache_protocol.files import write_text
from entrycache_reference.pulsar_pip430 import NAME, decision

MODULE: Final = "Decision"

HEAD: Final = f"""\
------------------------------ MODULE {MODULE} ------------------------------
(***************************************************************************)
(* What a pass does with the slot at the head. The module is generated     *)
(* from the table DECISION of the reference, line by line, by `python -m   *)
(* entrycache_dev.pages.tla_decision`. The first line that fits decides.   *)
(***************************************************************************)

"""


def condition(line: decision.Line) -> str:
    """Render the condition of a line."""
    cells = zip(decision.Facts._fields, line.cells, strict=True)
    return " /\\ ".join(name if cell else f"~{name}" for name, cell in cells if cell is not decision.ANY) or "TRUE"


def render_module(table: tuple[decision.Line, ...]) -> str:
    """Render the module for a table."""
    lines = [f"Decide({', '.join(decision.Facts._fields)}) =="]
    for at, line in enumerate(table):
        word = "  IF" if at == 0 else "  ELSE IF"
        lines.append(f'{word} {condition(line)} THEN "{line.action.name}" \\* {line.rule.value}')
    lines.append('  ELSE "NO LINE"')
    return HEAD + "\n".join(lines) + "\n" + "=" * 77 + "\n"


if __name__ == "__main__":
    write_text(locate_modules(NAME) / f"{MODULE}.tla", render_module(decision.DECISION))
    sys.exit(0)
