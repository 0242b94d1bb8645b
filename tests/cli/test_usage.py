"""A user's mistake gives one clear line on stderr and its exit code in every command, never a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from entrycache_cli.commands import ALIASES, COMMANDS, MOVED
from entrycache_cli.main import main
from entrycache_conformance.java.releases import release_versions
from tests.support.command import run
from tests.support.traces import plant

MISTAKES = [
    ("audit nowhere", 2, "no such folder"),
    ("audit", 2, "Missing argument"),
    ("conform --nope", 2, "No such option"),
    ("conform --profile x", 2, "'x' is not one of"),
    ("conform fast --level nope", 2, "expected one of: range, queue, manager, reads, cursors"),
    ("conform nothing", 2, "unknown subject 'nothing'"),
    ("conform .", 2, "unknown subject '.'"),
    ("conform build/mine.jar", 2, "build/mine.jar is not there; expected a jar or a folder of classes"),
    ("conform expire-at-the-cutoff --system kafka-streams", 2, "does not offer"),
    ("conform --command nosuchprogram", 2, "cannot start"),
    ("conform fast --classpath x.jar", 2, "--classpath goes with a released jar"),
    ("conform pulsar:9", 2, f"known: {release_versions('pulsar-legacy')[0]}"),
    ("conform --timeout 0", 2, "--timeout"),
    ("conform fast --timeout nan", 2, "is not a number"),
    ("conform fast --timeout inf", 2, "--timeout"),
    ("conform fast --bulk nan", 2, "is not a number"),
    ("conform fast --bulk inf", 2, "--bulk"),
    ("campaign fast --cpu-seconds nan", 2, "is not a number"),
    ("fly", 2, "No such command"),
    ("replay nowhere", 2, "cannot read the case"),
    ("report nowhere --to junit", 2, "cannot read the results"),
    ("rules R-NONE-1", 2, "no rule"),
    ("serve nothing", 2, "unknown subject"),
    ("trace generate nothing --events 5 --out t", 2, "preset"),
    ("trace record --case nowhere --out t", 2, "cannot read the case"),
    ("trace inspect nowhere", 2, "nowhere"),
    ("trace explain nowhere --seq 1", 2, "nowhere"),
    ("trace check nowhere", 2, "nowhere"),
    ("trace convert nowhere t", 2, "nowhere"),
    ("audit t --engine local", 2, "--engine is now --backend NAME; expected one of spark, spark-checker, "),
    ("audit t --kernel sql", 2, "--kernel is now --backend NAME; expected one of spark, spark-checker, "),
]


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change to an empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("line", "code", "said"), MISTAKES, ids=[line for line, _, _ in MISTAKES])
def test_a_mistake_is_reported_in_one_line(
    line: str, code: int, said: str, capsys: pytest.CaptureFixture[str], nowhere: None
) -> None:
    ended, out, err = run(capsys, *line.split())
    assert ended == code, err
    assert said in err
    assert err.startswith("entrycache: ")
    assert len(err.splitlines()) == 1
    assert out == ""


@pytest.mark.parametrize("name", ["my_cache", "my_cache.py", "./my_cache.py"])
def test_a_module_without_a_class_gets_a_hint(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_cache.py").touch()
    code, _, err = run(capsys, "conform", name)
    assert code == 2
    assert err == f"entrycache: {name!r} is a Python module; name its class too, as in my_cache:CLASS\n"


def test_a_program_that_repeats_the_request_names_no_system(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "conform", "--command", "cat")
    assert (code, err) == (3, "entrycache: the answer to `start` names no system\n")


def test_a_mistake_ends_the_process_with_its_code(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "entrycache_cli", "fly"]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == ["entrycache: No such command 'fly'; see --help"]


def test_an_empty_folder_is_nothing_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str], nowhere: None) -> None:
    (tmp_path / "trace").mkdir()
    code, out, _ = run(capsys, "audit", "trace", "--backend", "local", "--json")
    assert code == 2
    assert set(json.loads(out)["rules"].values()) == {"nothing-checked"}


def test_an_audit_says_how_many_violations_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = plant.honest(tmp_path / "honest", 300, 4)["broker-0"]
    for is_violated, ending in ((False, "; 0 violations, in "), (True, "; 1 violations, in ")):
        if is_violated:
            plant.seed_violation(plant.wrong_sum, rows, 1)
        trace = plant.write(tmp_path / f"trace-{is_violated}", rows)
        options = ("--backend", "local", "--rules", "R-STATE-1", "--out", str(tmp_path / "out"))
        code, out, _ = run(capsys, "audit", str(trace), *options)
        assert (code, ending in out) == (int(is_violated), True), out


def test_recording_beside_another_subject_says_that_it_is_no_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from entrycache_faults.model import CASES_FOLDER

    case = str(CASES_FOLDER / "evict-one-too-many.json")
    for subject, code, source in (
        ("reference", 0, "no evidence"),
        ("evict-one-too-many", 1, "no evidence"),
        ("fast", 0, "its own rows"),
    ):
        out = tmp_path / subject
        ended, _, err = run(capsys, "trace", "record", subject, "--case", case, "--out", str(out))
        assert ended == code, err
        assert source in json.loads((out / "_entrycache.json").read_text())["source"]


def test_nothing_is_recorded_of_what_was_declined_or_only_calls_itself_fast(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "subject.py"
    program.write_text(
        "import json, sys\n"
        "start = {'version': 1, 'implementation': {'name': 'fast'}, 'systems': {'pulsar-pip430': {'ops': ['get']}}}\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if asked['cmd'] == 'stop':\n        break\n"
        "    kinds = {'skips': {'skipped': {'reason': 'not\\ntoday'}}, 'misses': {'outcomes': [{'hit': False}]}}\n"
        "    answer = start if asked['cmd'] == 'start' else {'id': asked['id'], **kinds[sys.argv[1]]}\n"
        "    print(json.dumps(answer), flush=True)\n",
        "utf-8",
    )
    case = tmp_path / "case.json"
    case.write_text(
        json.dumps({"system": "pulsar-pip430", "steps": [{"op": "get", "cache": "a", "pos": [0, 0]}]}), "utf-8"
    )

    def record(kind: str) -> tuple[int, str, str]:
        subject = ("--command", f"{sys.executable} -I {program} {kind}")
        return run(capsys, "trace", "record", *subject, "--case", str(case), "--out", str(tmp_path / kind))

    code, out, err = record("skips")
    assert (code, out) == (2, "")
    assert err == "entrycache: nothing was recorded: fast skipped the case: not\\ntoday\n"
    assert not (tmp_path / "skips").exists()
    code, _, err = record("misses")
    assert (code, err) == (0, "")
    assert "no evidence" in json.loads((tmp_path / "misses" / "_entrycache.json").read_text())["source"]


@pytest.mark.long
def test_an_error_of_ours_is_one_line_with_its_own_code(tmp_path: Path) -> None:
    program = (
        "from entrycache_reference.pulsar_pip430 import passes; passes.has_to_halt = lambda kind, bound, entry: False; "
        "from entrycache_cli.main import main; main(['conform', 'reference', '--level', 'queue'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 70, done.stderr
    assert done.stderr.startswith("entrycache: an error of entrycache itself, not of the subject; report it: ")
    assert len(done.stderr.splitlines()) == 1


def test_the_list_of_commands_is_whole_and_loads_none_of_them() -> None:
    for name, summary in COMMANDS.items():
        assert len(summary) <= 62
        assert main.get_command(None, name).name == name  # type: ignore[arg-type, union-attr]
    code = (
        "import sys; from entrycache_cli.main import main\n"
        "try: main(['--help'])\n"
        "finally: assert not {'hypothesis', 'entrycache_conformance.systems'} & sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(summary in done.stdout for summary in COMMANDS.values())


@pytest.mark.parametrize(("former", "present"), [*ALIASES.items()])
def test_a_former_name_still_runs_the_command_and_is_not_listed(
    former: str, present: str, capsys: pytest.CaptureFixture[str]
) -> None:
    helps = [run(capsys, name, "--help")[1].partition("[OPTIONS]")[2].split() for name in (former, present)]
    assert helps[0] == helps[1] != []
    assert f"  {former} " not in run(capsys, "--help")[1]


def test_a_command_that_left_the_package_says_where_it_went(capsys: pytest.CaptureFixture[str]) -> None:
    for name in MOVED:
        code, out, err = run_main(capsys, name, "--rounds", "3")
        assert (code, out) == (2, "")
        assert (
            err == f"entrycache: {name} is not part of the package; run `python -m entrycache_dev {name}` in a clone\n"
        )


def run_main(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


START = """
import resource, sys
from entrycache_cli.main import main
try: main(sys.argv[1:])
except SystemExit: pass
finally:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    systems = {part for name in sys.modules if name.startswith("entrycache_") for part in name.split(".")
               if part in ("pulsar_pip430", "pulsar_legacy", "pulsar_segmented", "kafka_streams")}
    print(usage.ru_utime + usage.ru_stime, *sorted(systems), file=sys.stderr)
"""


def start_of(*arguments: str) -> tuple[float, set[str]]:
    """Return the CPU seconds of a command and the systems that it imported."""
    done = subprocess.run([sys.executable, "-c", START, *arguments], capture_output=True, text=True, check=False)
    seconds, *systems = done.stderr.splitlines()[-1].split()
    return float(seconds), set(systems)


def test_help_imports_no_system_and_answers_at_once() -> None:
    seconds, systems = min(start_of("--help") for _ in range(3))
    assert systems == set()
    assert seconds < 2 * 0.25  # the goal on a quiet machine is 0.25: `python -m tests.house_numbers` measures it


ONE_METHOD = """
import os, resource, sys
from entrycache_protocol.server import Subject

class Mine(Subject):
    system = "pulsar-pip430"
    settings = ()

    def insert(self, cache, pos, size, expected_reads=None):
        usage = resource.getrusage(resource.RUSAGE_SELF)
        systems = {part for name in sys.modules if name.startswith("entrycache_") for part in name.split(".")
                   if part in ("pulsar_pip430", "pulsar_legacy", "pulsar_segmented", "kafka_streams")}
        with open("start.txt", "w") as file:
            print(usage.ru_utime + usage.ru_stime, *sorted(systems), file=file)
        os.kill(os.getpid(), 9)
"""


def test_conform_starts_quickly_and_imports_one_system(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(ONE_METHOD)
    argv = [sys.executable, "-m", "entrycache_cli", "conform", "mine:Mine", "--level", "range"]
    starts = []
    for _ in range(3):
        subprocess.run(argv, capture_output=True, cwd=tmp_path, check=False)
        seconds, *systems = (tmp_path / "start.txt").read_text().split()
        assert systems == ["pulsar_pip430"]
        starts.append(float(seconds))
    assert min(starts) < 2 * 0.6  # the goal on a quiet machine is 0.6


def test_a_subject_is_served_without_loading_what_searches() -> None:
    code = (
        "import sys; from entrycache_cli.main import main; main.get_command(None, 'serve');"
        "sys.exit('hypothesis' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
