"""Child processes: start them, talk to them, watch them, and end them with everything that they started.

`ChildProcess` moves bytes over the three pipes of a child. `StderrTail` keeps the end of its stderr for the report of a
failure, and `SubjectLog` writes all of it to a file.

No process may outlive its runner. Each starts a session of its own and inherits a mark in its environment. A `Watchdog`
shell waits at a pipe of the runner and kills the session when the runner dies, however it dies. `run_program` and
`start_program` give other programs, such as Maven, the same protection.
"""

import contextlib
import itertools
import math
import os
import secrets
import select
import shlex
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from multiprocessing import parent_process
from pathlib import Path
from typing import IO, Final

import psutil

from entrycache_protocol import errors, files, subject, wire

MARK: Final = "ENTRYCACHE_STARTED"
"""The environment variable that marks a program and everything it starts. The runner finds a marked process even if it
has left the session, unless it has cleared its environment.
"""

WATCHDOG_SCRIPT: Final = """read -r _ || { kill -9 "-$1"; pkill -9 -s "$1"
  for of in /proc/[0-9]*; do grep -qsF "$2" "$of/environ" && kill -9 "${of#/proc/}"; done; }"""
"""The program of the watchdog. A line on its stdin says that all is over; the end of the pipe without a line says that
the runner has died. A process that left the session is found by its session with pkill, and by its mark where there is
a /proc.
"""


_TOKEN: Final = secrets.token_hex(16)
_mark_numbers = itertools.count(1)


def _own_prefix() -> str:
    """Return the prefix of the marks of this process; a forked process has another one."""
    return f"{_TOKEN}.{os.getpid()}."


def marked_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment with a mark of its own, based on `env` or on this process."""
    return {**(os.environ if env is None else env), MARK: f"{_own_prefix()}{next(_mark_numbers)}."}


class Watchdog:
    """A shell that waits at the other end of a pipe. It knows only the number of the group and its mark."""

    def __init__(self, group: int, mark: str) -> None:
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", WATCHDOG_SCRIPT, "sh", str(group), mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def over(self) -> None:
        """Dismiss the watchdog: the group has ended."""
        with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
            self._shell.communicate(b"over\n", timeout=5)


def end_session(leader: int, mark: str) -> None:
    """Kill the leader of a session and everything that it has started.

    A process that has left the session is found by its mark. A process that has also cleared its mark is found as a
    descendant, as long as the processes between it and the leader live.
    """
    halted: set[psutil.Process] = set()
    with contextlib.suppress(psutil.Error):
        if _may_have_children(leader):
            halted |= halt_descendants(psutil.Process(leader))
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    for number in psutil.pids():
        with contextlib.suppress(OSError):
            if os.getsid(number) == leader:
                os.kill(number, signal.SIGKILL)
    kill_processes(halted | find_marked_processes(mark))


def find_marked_processes(mark: str | None = None) -> set[psutil.Process]:
    """Return all processes whose mark begins with `mark`; None: all that this process and its children started."""
    processes = set()
    mark = mark or _own_prefix()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK, "").startswith(mark):
                processes.add(process)
    return processes


def _may_have_children(of: int) -> bool:
    """Return whether a process may have children. Looking through all processes takes long, and most have none."""
    try:
        return any(task.joinpath("children").read_bytes() for task in Path(f"/proc/{of}/task").iterdir())
    except OSError:
        return True


def halt_descendants(of: psutil.Process) -> set[psutil.Process]:
    """Halt everything that a process has started, so that nothing can start another process meanwhile."""
    halted: set[psutil.Process] = set()
    while running := set(of.children(recursive=True)) - halted:
        for process in running:
            with contextlib.suppress(psutil.Error):
                process.suspend()
        halted |= running
    return halted


def kill_processes(processes: Iterable[psutil.Process]) -> None:
    """Kill each of the processes."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()


@contextlib.contextmanager
def start_program(
    argv: Sequence[str | Path],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    out: int | IO[str] = subprocess.PIPE,
    err: int | IO[str] = subprocess.PIPE,
) -> Iterator[subprocess.Popen[str]]:
    """Start a program that has no input. It and all of its group end with the block, however this process ends.

    Raises:
        OSError: it cannot be started.
    """
    env = marked_environment(env)
    with subprocess.Popen(
        argv,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        watch = Watchdog(process.pid, env[MARK])
        try:
            yield process
        finally:
            end_session(process.pid, env[MARK])
            watch.over()


def run_program(
    argv: Sequence[str | Path],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_seconds: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end without input; it and all of its group end with this process, however that ends.

    Raises:
        OSError: it cannot be started.
        subprocess.TimeoutExpired: it took longer; it has been ended.
    """
    with start_program(argv, cwd, env) as process:
        out, err = process.communicate(timeout=timeout_seconds)
    return subprocess.CompletedProcess(argv, process.returncode, out, err)


TAIL_BYTES: Final = 64 * 1024
"""The length of the kept end of stderr: a backtrace of Rust follows its first lines."""

MAX_LOG_BYTES: Final = 16 * 1024 * 1024
"""The size limit of the log; a subject may write without end."""

StderrListener = Callable[[bytes], None]
"""A callback that receives what a subject writes, as it comes."""


class StderrTail:
    """The end of the stderr of one process."""

    def __init__(self, on_stderr: StderrListener | None) -> None:
        self._on_stderr = on_stderr
        self._end = b""

    def add(self, chunk: bytes) -> None:
        """Add what was written."""
        self._end = (self._end + chunk)[-TAIL_BYTES:]
        if chunk and self._on_stderr is not None:
            self._on_stderr(chunk)

    @property
    def telling(self) -> tuple[str, ...]:
        """The lines that name the cause of a failure, escaped."""
        return errors.extract_cause(self._end.decode("utf-8", "replace"))

    @property
    def thrown(self) -> tuple[str, ...]:
        """The same lines of a process that goes on; nothing if it wrote no panic and no traceback."""
        return errors.extract_thrown(self._end.decode("utf-8", "replace"))


class SubjectLog:
    """A file that holds what all processes of a subject write to stderr, up to `MAX_LOG_BYTES`."""

    def __init__(self, path: Path) -> None:
        """Create the file.

        Raises:
            WriteError: it cannot be written.
        """
        self._path = path
        self._bytes = 0
        self._file: IO[bytes] | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink() and not files.is_written_directly(path):
                path.unlink()  # its target stays as it was
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            raise errors.WriteError(f"cannot write {path}: {files.describe_os_error(error)}") from None

    def __call__(self, chunk: bytes) -> None:
        """Write the received bytes. Bytes beyond the limit are left out, and the file says so once.

        Raises:
            WriteError: the disk is full or read-only.
        """
        if self._file is None:
            return
        left = MAX_LOG_BYTES - self._bytes
        self._bytes += len(chunk)
        try:
            self._file.write(chunk[:left])
            if len(chunk) > left:
                self._file.write(f"\n[entrycache: what came after {MAX_LOG_BYTES} bytes is left out]\n".encode())
                self._file.close()
                self._file = None
        except OSError as error:
            self._file = None
            raise errors.WriteError(f"cannot write {self._path}: {files.describe_os_error(error)}") from None


LINE_MAX_BYTES: Final = 64 * 1024 * 1024
"""The length limit of one answer."""

CHUNK_BYTES: Final = 64 * 1024

STOP_SECONDS: Final = 0.5
"""The time that a process may take to end after a stop request."""

LAST_WORDS_SECONDS: Final = 0.1
"""The time to wait for the last words of a process: on stderr if it fails, and on stdout before it is stopped."""


class ChildProcess:
    """One child process.

    Bytes move on all three pipes only while somebody waits for an answer. So there are no threads, nothing piles up,
    and a subject that floods its output is held back by its own full pipe.
    """

    def __init__(self, argv: Sequence[str], on_stderr: StderrListener | None = None) -> None:
        env = marked_environment()
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
            raise errors.UsageError(f"cannot start {shlex.join(argv)}: {error.strerror}") from None
        self._watch = Watchdog(self._process.pid, self._mark)
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
        self._log = StderrTail(on_stderr)
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
            raise errors.BrokenSubject(f"the subject answered a line of over {LINE_MAX_BYTES} bytes")

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

    def receive(self, timeout_seconds: float) -> bytes | subject.FailureKind:
        """Return the next line, or the reason why there is none."""
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
            raise errors.BrokenSubject(f"the subject {what}: {wire.quote_line(part)}")
        return (
            subject.FailureKind.DEATH if self._ended or self._process.poll() is not None else subject.FailureKind.HANG
        )

    def exit_code(self) -> int | None:
        """Return the exit code, negative for a signal; None while the process lives."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout=1)
        return None

    def exit_note(self) -> str:
        """Return how the process ended, for a message."""
        code = self.exit_code()
        if code is None:
            return "its output ended"
        return f"exit code {code}" if code >= 0 else f"signal {-code}"

    def last_words(self) -> tuple[str, ...]:
        """Return the lines of stderr that name the cause of the failure, escaped."""
        end = time.monotonic() + LAST_WORDS_SECONDS
        with contextlib.suppress(errors.BrokenSubject):
            while not self._log_ended and (left := end - time.monotonic()) > 0:
                self._move(left)
        return self._log.telling

    def thrown(self) -> tuple[str, ...]:
        """Return what the process wrote before this answer about an error that it survived."""
        with contextlib.suppress(errors.BrokenSubject):
            self._move(0)
        return self._log.thrown

    def read_unrequested(self) -> bytes:
        """Wait a moment for output that answers nothing; return its first line, or the beginning of one."""
        end = time.monotonic() + LAST_WORDS_SECONDS
        with contextlib.suppress(errors.BrokenSubject):
            while not (self._lines or self._ended) and (left := end - time.monotonic()) > 0:
                self._move(left)
        return self._lines[0] if self._lines else b"".join(self._part)

    def stop(self) -> str:
        """Ask the process to end, then kill it with everything that it has started.

        Return how it ended if it ended by itself in another way than with exit code 0; else return "".
        """
        self.send('{"cmd":"stop"}\n')
        end = time.monotonic() + STOP_SECONDS
        with contextlib.suppress(errors.BrokenSubject, subprocess.TimeoutExpired):
            while not self._ended and (left := end - time.monotonic()) > 0:
                self._move(left)
                self._lines.clear()
            self._process.wait(timeout=max(0.0, end - time.monotonic()))
        note = self.exit_note() if self._process.poll() else ""
        self.kill()
        return note

    def kill(self) -> None:
        """Kill the process and everything that it has started."""
        end_session(self._process.pid, self._mark)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self._watch.over()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


def initialize_fork() -> None:
    """Initialize a fork of the runner: the runner handles the signals, and the fork ends when the runner ends."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_the_runner, daemon=True).start()


def _end_with_the_runner() -> None:
    runner = parent_process()
    if runner is not None:
        runner.join()
        os.kill(os.getpid(), signal.SIGKILL)
