"""The lines of a program's stderr that name the cause of its failure."""

from __future__ import annotations

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import Case
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import MAX_LINE_LENGTH, BrokenSubject, extract_cause
from entrycache_protocol.wire import read_answer
from entrycache_reference.pulsar_pip430 import Config, ops
from tests.support.nasty import NASTY

RUST = """reading
thread 'main' panicked at src/main.rs:41:9:
attempt to subtract with overflow
stack backtrace:
   0: rust_begin_unwind
             at /rustc/90b35a6/library/std/src/panicking.rs:645:5
note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.
"""
GO = """panic: runtime error: index out of range [3] with length 3

goroutine 1 [running]:
main.(*Cache).evict(0xc000012345, 0x3)
	/home/me/cache/main.go:77 +0x1d
main.main()
	/home/me/cache/main.go:12 +0x25
exit status 2
"""
RECOVERED = """goroutine 1 [running]:
runtime/debug.Stack()
\t/usr/local/go/src/runtime/debug/stack.go:26 +0x5e
main.run.func1()
\t/home/me/cache/main.go:136 +0x97
panic({0x4cf160?, 0xc000014108?})
\t/home/me/sdk/go/src/runtime/panic.go:787 +0x132
runtime.goPanicIndex(0x3, 0x3)
\t/home/me/sdk/go/src/runtime/panic.go:115 +0x74
main.(*cache).remove(...)
\t/home/me/cache/main.go:82
main.main()
\t/home/me/cache/main.go:164 +0x2fb
"""
JAVA = """Exception in thread "main" java.lang.RuntimeException: cannot play
	at mycache.Main.play(Main.java:30)
	at mycache.Main.main(Main.java:9)
Caused by: java.lang.IllegalStateException: closed
	at mycache.Cache.open(Cache.java:12)
	... 1 more
Caused by: java.lang.NullPointerException: slot is null
	at mycache.Queue.head(Queue.java:55)
	at mycache.Cache.open(Cache.java:11)
	... 6 more
"""
NODE_MODULE = """node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/home/me/missing.mjs'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2
"""
NODE_THROWN = """file:///home/me/cache.mjs:1
null.x
     ^

TypeError: Cannot read properties of null (reading 'x')
    at file:///home/me/cache.mjs:1:6
    at ModuleJob.run (node:internal/modules/esm/module_job:325:25)

Node.js v20.20.2
"""
NODE_VALUE = """node:internal/modules/run_main:123
    triggerUncaughtException(
    ^
5
(Use `node --trace-uncaught ...` to show where the exception was thrown)

Node.js v20.20.2
"""
PYTHON = """Traceback (most recent call last):
  File "cache.py", line 9, in <module>
    main()
    ~~~~^^
  File "cache.py", line 5, in main
    return entries[pos]
           ~~~~~~~^^^^^
KeyError: (1, 0)
"""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (RUST, ("thread 'main' panicked at src/main.rs:41:9:", "attempt to subtract with overflow")),
        (
            GO,
            (
                "panic: runtime error: index out of range [3] with length 3",
                "main.(*Cache).evict(0xc000012345, 0x3)",
                "/home/me/cache/main.go:77 +0x1d",
            ),
        ),
        (RECOVERED, ("main.(*cache).remove(...)", "/home/me/cache/main.go:82")),
        (
            JAVA,
            (
                "Caused by: java.lang.NullPointerException: slot is null",
                "at mycache.Queue.head(Queue.java:55)",
            ),
        ),
        (
            "java.lang.Error: once\n\tat a.B.c(B.java:1)\n",
            ("java.lang.Error: once", "at a.B.c(B.java:1)"),
        ),
        (PYTHON, ("KeyError: (1, 0)", 'File "cache.py", line 5, in main', "return entries[pos]")),
        (NODE_MODULE, ("Error: Cannot find module '/home/me/missing.mjs'",)),
        (NODE_THROWN, ("TypeError: Cannot read properties of null (reading 'x')", "at file:///home/me/cache.mjs:1:6")),
        (NODE_VALUE, ("5",)),
        ("one\ntwo\n\n", ("two",)),
        ("", ()),
    ],
    ids=[
        "rust",
        "go",
        "go recovered",
        "java",
        "java without a cause",
        "python",
        "node module",
        "node",
        "node value",
        "else",
        "nothing",
    ],
)
def test_the_cause_is_shown_and_not_the_last_line(text: str, cause: tuple[str, ...]) -> None:
    assert extract_cause(text) == cause


def test_an_outcome_that_lacks_a_key_is_shown() -> None:
    system = SYSTEMS["pulsar-pip430"]
    declaration = Declaration(system, frozenset({"usage"}))
    case = Case(system, Config(), (ops.Usage(),))
    said = r"""step 0 \(usage\): the key 'bytes' is missing; the answer was \{"entries": 0\}"""
    with pytest.raises(BrokenSubject, match=said):
        read_answer({"id": 0, "outcomes": [{"entries": 0}]}, case, 0, declaration)


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("before", ["", "thread 'main' panicked at ", "panic: ", "Caused by: ", PYTHON])
def test_a_cause_is_printable_and_short(text: str, before: str) -> None:
    for line in extract_cause(before + text * 100):
        assert line.isprintable()
        assert len(line) <= MAX_LINE_LENGTH + 3
