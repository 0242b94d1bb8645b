"""Exit codes: every command ends with one of them, prints at most one line for an error, and leaves nothing behind.

| exit | meaning |
|---|---|
| 0 to 4 | the result of the command; see its help |
| 70 | an internal error: one line, and a file with the traceback |
| 129, 130, 143 | SIGHUP, Ctrl-C or SIGTERM: the command ends within `GRACE_SECONDS` and prints finished results first |
| 141 | the reader of the output has gone, as in a pipe to `head` |

`OneLineErrors` is the click class of a command line. It runs a command inside `stopped_by_signals`, turns each
exception into a line and an exit code, and ends the process. A signal raises KeyboardInterrupt in the main thread; a
second thread ends the process if that takes too long; a report that is being written then has `REPORT_SECONDS` more.
All processes that the command has started end with it.
"""

import contextlib
import errno
import fcntl
import gc
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Final

import click
import psutil

from entrycache_cli.report.terminal import echo
from entrycache_conformance.subjects.processes import find_marked_processes, halt_descendants, kill_processes
from entrycache_protocol import errors, files

INTERNAL_ERROR: Final = 70
READER_GONE: Final = 141
GRACE_SECONDS: Final = 1.5
"""The time that a stopped command has to close its files and processes before it is ended."""
REPORT_SECONDS: Final = 15.0
"""The time that a report has after that if it is being written then."""
_reports: Final = threading.Event()
"""Set while a report is written."""

NO_SPACE_ERRORS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})
"""Errors of the operating system that mean a full disk."""

STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that stop a command: Ctrl-C, a polite kill, a closed terminal."""

LINE_LENGTH: Final = 2_000
"""The largest length of a line on stderr, which may quote a file."""

CLOSED_OUTPUT: Final = "cannot write the output: stdout is closed, or open only for reading"
RETRY_SECONDS: Final = 0.02
"""The delay before a signal is sent again that came where Python drops exceptions."""


class OneLineErrors(click.Command):
    """A command line whose commands end with a documented exit code and at most one line of error."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command and end the process with its exit code."""
        has_output = ensure_standard_streams()
        problem = missing_folder_message() if has_output else CLOSED_OUTPUT
        if problem:
            print_error(problem)
            sys.exit(2)
        kwargs["standalone_mode"] = False
        with stopped_by_signals() as stopped:
            code = self._code(stopped, args, kwargs)
        if stopped:  # nothing is waited for any more
            for partial in tuple(files.OPEN_PARTIAL_FILES):
                partial.end()
        if stopped or _has_foreign_threads():
            with contextlib.suppress(OSError):
                sys.stdout.flush()
            os._exit(code)
        sys.exit(code)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the arguments; some of them print something and end the command."""
        with handle_output_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with handle_output_errors():
            return super().invoke(ctx)

    def _code(self, stopped: list[int], args: Any, kwargs: Any) -> int:
        try:
            code = self._run(stopped, args, kwargs)
        except SystemExit as end:
            code = end.code
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            return 2
        except (click.exceptions.Abort, KeyboardInterrupt):
            return 128 + signal.SIGINT
        except click.ClickException as error:
            print_error(f"{' '.join(error.format_message().split()).rstrip('.')}; see --help")
            return 2
        except errors.EntrycacheError as error:
            print_error(str(error))
            return error.exit_code
        except errors.InternalError as error:
            reason = errors.shorten(errors.escape_unprintable(str(error)), 500)
            print_error(f"an error of entrycache itself, not of the subject; report it: {reason}")
            return INTERNAL_ERROR
        except Exception as error:
            if isinstance(error, UnicodeEncodeError) and (name := undecodable_argument(args[0] if args else sys.argv)):
                print_error(f"{name!r} is not UTF-8 text; expected file names in UTF-8")
                return 2
            print_error(internal_error_message(error))
            return INTERNAL_ERROR
        return code if isinstance(code, int) else 0

    def _run(self, stopped: list[int], args: Any, kwargs: Any) -> Any:
        """Run the command; if a signal stopped it, return that exit code whatever libraries did with the exception."""
        try:
            code = super().main(*args, **kwargs)
        except BaseException as error:
            if not stopped:
                raise
            if isinstance(error, errors.WriteError):  # finished results could not be written
                print_error(str(error))
        return 128 + stopped[0] if stopped else code


def ensure_standard_streams() -> bool:
    """Replace closed standard streams by the null device, so that no opened file takes their numbers.

    Return whether the output can be written.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it has the lowest number that was free
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115 - for the whole process
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    return sys.stdout is not None and fcntl.fcntl(1, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY


@contextlib.contextmanager
def handle_output_errors() -> Iterator[None]:
    """End the command if nobody reads its output any more or the disk is full.

    Raises:
        WriteError: there is no room for the output or for a file.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError) and error.errno not in NO_SPACE_ERRORS:
            raise
        # What Python still holds for the reader would be written, and fail, at the very end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(READER_GONE)
        raise errors.WriteError(
            f"cannot write {error.filename or 'the output'}: {files.describe_os_error(error)}"
        ) from None


def missing_folder_message() -> str:
    """Return an error line if the current folder is gone, because libraries ask for it when they are imported."""
    try:
        Path.cwd()
    except OSError as error:
        return f"cannot run in the current folder: {files.describe_os_error(error)}"
    return ""


def print_error(line: str) -> None:
    """Print one line on stderr."""
    with contextlib.suppress(OSError):
        echo(f"entrycache: {errors.shorten(errors.escape_unprintable(line), LINE_LENGTH)}", err=True)


def undecodable_argument(arguments: Sequence[str]) -> str:
    """Return the first argument that is not UTF-8 text, as a file name may be; return "" if there is none."""
    return next((each for each in arguments if any("\ud800" <= char <= "\udfff" for char in each)), "")


def internal_error_message(error: BaseException) -> str:
    """Describe an unexpected exception in one line, and write its traceback to a file."""
    what = errors.shorten(errors.escape_unprintable(" ".join(f"{type(error).__name__}: {error}".split())), 300)
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="entrycache-error-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(f"{' '.join(sys.argv)}\n\n")
            traceback.print_exception(error, file=file)
        where = f"its traceback is in {file.name}"
    except OSError as full:
        where = f"its traceback could not be written ({full.strerror})"
    return f"an error of entrycache itself, not of the subject; report it: {what} ({where})"


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[list[int]]:
    """Turn stop signals into KeyboardInterrupt and end the process after the grace; yield the signals that came.

    Python drops an exception that is raised in a callback of the garbage collector (Hypothesis has one) or in
    `__del__`. A signal that comes there is sent again a little later. A second signal ends the process at once. The end
    of the grace does so too, even while a library blocks Python. Every process that was started ends with this one.
    """
    came: list[int] = []
    main = threading.get_ident()
    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    put_off = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal put_off
        if came and not put_off:
            _end_now(came[0])
        if not came:
            came.append(number)
            _note_running_step()
        put_off = _is_collecting(frame)
        if not put_off:
            raise KeyboardInterrupt
        again = threading.Timer(RETRY_SECONDS, signal.pthread_kill, (main, number))
        again.daemon = True
        again.start()

    # A shell lets what it puts into the background ignore Ctrl-C; that stays so.
    numbers = [number for number in STOP_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = [signal.signal(number, stop) for number in numbers]
    try:
        with _end_after_grace():
            yield came
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
        if came:
            _kill_descendants()
            _print_stopped_steps()


@contextlib.contextmanager
def writing_report() -> Iterator[None]:
    """Let the first stop signal wait for the report that is written inside."""
    _reports.set()
    try:
        yield
    finally:
        _reports.clear()


@contextlib.contextmanager
def _end_after_grace() -> Iterator[None]:
    """Start a thread that ends the process after the grace once a signal arrives, even if the main thread is busy."""
    over = threading.Event()
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)

    def watch() -> None:
        with os.fdopen(read_end, "rb", buffering=0) as numbers:
            while number := numbers.read(1):
                if number[0] not in STOP_SIGNALS or over.wait(GRACE_SECONDS):
                    continue
                if not (_reports.is_set() and over.wait(REPORT_SECONDS)):
                    _end_now(number[0])

    threading.Thread(target=watch, daemon=True).start()
    before = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        os.close(write_end)


DROPPING_FUNCTIONS: Final = frozenset({"__del__", "_garbage_collect_object"})
"""Functions that run while an object is deleted; py4j attaches the second one to weak references."""


def _is_collecting(frame: FrameType | None) -> bool:
    """Return whether Python is running code whose exceptions it drops."""
    callbacks = {getattr(call, "__code__", None) for call in gc.callbacks}
    while frame is not None:
        if frame.f_code in callbacks or frame.f_code.co_name in DROPPING_FUNCTIONS:
            return True
        frame = frame.f_back
    return False


_exit: Final = os._exit
"""The function that ends the process. While a class is played in this process, `os._exit` is another function."""

_stopped_steps: list[str] = []
"""The step of a class in this process that the first signal has stopped, if any, until it is printed."""


def _note_running_step() -> None:
    """Note the step that a class in this process plays. Without its module there is no such class."""
    module = sys.modules.get("entrycache_conformance.resolve")
    clock = getattr(module, "RunClock", None)
    if clock is not None and clock.running is not None:
        _stopped_steps.append(clock.running.describe_step())


def _print_stopped_steps() -> None:
    while _stopped_steps:
        print_error(f"stopped in {_stopped_steps.pop()}")


def _end_now(number: int) -> None:
    """End this process and all that it started, whatever it is doing."""
    _kill_descendants()
    _print_stopped_steps()
    _exit(128 + number)


def _has_foreign_threads() -> bool:
    """Return whether a class that was played in this process left threads for which Python would wait at its end."""
    if "entrycache_conformance.resolve" not in sys.modules:
        return False
    return any(not each.daemon for each in threading.enumerate() if each is not threading.main_thread())


def _kill_descendants() -> None:
    with contextlib.suppress(psutil.Error):
        kill_processes(halt_descendants(psutil.Process()) | find_marked_processes())
