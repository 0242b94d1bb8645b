"""One life of a child process: bytes on its three pipes, its end, and what it wrote before."""

from __future__ import annotations

import contextlib
import math
import os
import select
import shlex
import subprocess
import time
from collections import deque
from collections.abc import Sequence
from typing import IO, Final

from entrycache_conformance.subjects.stderr import Heard, Stderr
from entrycache_conformance.subjects.watch import MARK, Watch, end, marked
from entrycache_protocol.errors import BrokenSubject, UsageError
from entrycache_protocol.subject import Trouble
from entrycache_protocol.wire import shortened

LINE_MAX_BYTES: Final = 64 * 1024 * 1024
"""The longest line of an answer."""

CHUNK_BYTES: Final = 64 * 1024

STOP_SECONDS: Final = 0.5
"""How long a process that was told to stop may take."""

LAST_WORDS_SECONDS: Final = 0.1
"""How long what a failing process writes to stderr is waited for."""


class Process:
    """One life of the child.

    Bytes move, on all three pipes, only while somebody waits for an answer: no threads, nothing piles up, and
    a subject that floods its output is held back by its own full pipe.
    """

    def __init__(self, argv: Sequence[str], heard: Heard | None = None) -> None:
        env = marked()
        self._mark = env[MARK]
        try:
            self._process = subprocess.Popen(
                argv,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"cannot start {shlex.join(argv)}: {error.strerror}") from None
        self._watch = Watch(self._process.pid, self._mark)
        self._stdin = self._descriptor(self._process.stdin)
        self._stdout = self._descriptor(self._process.stdout)
        self._stderr = self._descriptor(self._process.stderr)
        self._poll = select.poll()
        self._poll.register(self._stdout, select.POLLIN)
        self._poll.register(self._stderr, select.POLLIN)
        self._unsent = bytearray()
        self._lines: deque[bytes] = deque()
        self._part: list[bytes] = []
        self._part_bytes = 0
        self._ended = False
        self._log = Stderr(heard)
        self._log_ended = False

    @staticmethod
    def _descriptor(pipe: IO[bytes] | None) -> int:
        assert pipe is not None
        os.set_blocking(pipe.fileno(), False)
        return pipe.fileno()

    def _move(self, seconds: float) -> None:
        """Wait at most that long until bytes can move, and move some."""
        for descriptor, _ in self._poll.poll(math.ceil(1000 * max(0.0, seconds))):
            if descriptor == self._stdin:
                self._write()
            elif descriptor == self._stdout:
                self._read()
            else:
                self._keep_log()

    def _write(self) -> None:
        try:
            sent = os.write(self._stdin, self._unsent)
        except BlockingIOError:
            return
        except OSError:  # it reads no more; that it answers no more will show
            sent = len(self._unsent)
        del self._unsent[:sent]
        if not self._unsent:
            self._poll.unregister(self._stdin)

    def _read(self) -> None:
        chunk = os.read(self._stdout, CHUNK_BYTES)
        if not chunk:
            self._ended = True
            self._poll.unregister(self._stdout)
            return
        first, *others = chunk.split(b"\n")
        self._part.append(first)
        self._part_bytes += len(first)
        for other in others:
            self._lines.append(b"".join(self._part))
            self._part = [other]
            self._part_bytes = len(other)
        if self._part_bytes > LINE_MAX_BYTES:
            raise BrokenSubject(f"the subject answered a line of over {LINE_MAX_BYTES} bytes")

    def _keep_log(self) -> None:
        chunk = os.read(self._stderr, CHUNK_BYTES)
        self._log.add(chunk)
        if not chunk:
            self._log_ended = True
            self._poll.unregister(self._stderr)

    def send(self, text: str) -> None:
        """Keep a text to be written when the process takes it."""
        if not self._unsent:
            self._poll.register(self._stdin, select.POLLOUT)
        self._unsent += text.encode()
        if len(self._unsent) >= CHUNK_BYTES:
            self._move(0)

    def push(self) -> None:
        """Move what can be moved at once."""
        self._move(0)

    def receive(self, timeout_seconds: float) -> bytes | Trouble:
        """The next line, or why there is none."""
        if self._unsent:  # before anything else, so that the child has work while its answers are read
            self._write()
        end = time.monotonic() + timeout_seconds
        left = timeout_seconds
        while not self._lines and not self._ended and left > 0:
            left = end - time.monotonic()
            self._move(left)
        if self._lines:
            return self._lines.popleft()
        part = b"".join(self._part)
        if part:
            what = "ended in the middle of a line" if self._ended else "answered a line without an end"
            raise BrokenSubject(f"the subject {what}: {shortened(part)}")
        return Trouble.DEATH if self._ended or self._process.poll() is not None else Trouble.HANG

    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while it lives."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout=1)
        return None

    def exit_note(self) -> str:
        """How the process ended, for a message."""
        code = self.exit_code()
        if code is None:
            return "its output ended"
        return f"exit code {code}" if code >= 0 else f"signal {-code}"

    def last_words(self) -> tuple[str, ...]:
        """The lines of stderr that tell why the process failed, as they can be shown."""
        end = time.monotonic() + LAST_WORDS_SECONDS
        with contextlib.suppress(BrokenSubject):
            while not self._log_ended and (left := end - time.monotonic()) > 0:
                self._move(left)
        return self._log.telling

    def thrown(self) -> tuple[str, ...]:
        """What the process has said of an error that it lives on after; it wrote that before it answered."""
        with contextlib.suppress(BrokenSubject):
            self._move(0)
        return self._log.thrown

    def stop(self) -> None:
        """End the process: politely, then with all it has started."""
        self.send('{"cmd":"stop"}\n')
        end = time.monotonic() + STOP_SECONDS
        with contextlib.suppress(BrokenSubject, subprocess.TimeoutExpired):
            while not self._ended and (left := end - time.monotonic()) > 0:
                self._move(left)
                self._lines.clear()
            self._process.wait(timeout=max(0.0, end - time.monotonic()))
        self.kill()

    def kill(self) -> None:
        """End the process and all that it has started, at once."""
        end(self._process.pid, self._mark)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self._watch.over()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
