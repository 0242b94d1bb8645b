"""Text that somebody else wrote, and code, mark-up or a terminal's command if it came out as it came in."""

from __future__ import annotations

from typing import Final

NASTY: Final = (
    "\x1b[31mred\x1b[0m",
    "\x1b]0;a title\x07",
    "\x9b31m",
    "\x00\x01\x08\x0c\x7f",
    "over\rwritten",
    "two\nlines\n\n| and | a table |",
    "[/red]",
    "[bold]x[/bold] [link=http://example.org]y[/link]",
    ":boom:",
    '"""\nraise SystemExit("ran")\n"""',
    "'''\nraise SystemExit('ran')\n'''",
    '\\"""\nraise SystemExit("ran")\n#',
    "{0} {case} {{x}} {{{{ 7 * 7 }}}} {% raw %}",
    "*/ } static { System.exit(9); } /*",
    "\\u002a/ } static { System.exit(9); } /\\u002a",
    "<script>alert(1)</script> & &amp; ]]> <!--",
    "`code` **bold** _x_ ~~y~~ [a](javascript:alert(1)) | cell | \\| ",
    "\ud800 half a pair",
    "\u202egnirts\u202c",
    "$(touch here) `touch here` ; touch here",
    "%s %n {} \\x41",
)
