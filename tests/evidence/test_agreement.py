"""Test the check of the rules: each kind of disagreement is reported."""

import dataclasses
from types import SimpleNamespace

import pytest

from entrycache_conformance.judge import LawBroken
from entrycache_conformance.systems import system_named
from entrycache_evidence.core import rule_registry
from entrycache_evidence.core.checkout import locate_checkout
from entrycache_evidence.core.models import FAULT_OF, derive_flips, record_runs, use_model
from entrycache_evidence.core.rule_registry import Problem
from entrycache_evidence.kafka_streams import runs as kafka
from entrycache_evidence.pulsar_pip430.runs import A, at, play
from entrycache_evidence.rulebook import agreement, corpus, examples
from entrycache_faults.model import Fault, Model
from entrycache_protocol.errors import MissingPrerequisite, UsageError
from entrycache_reference.pulsar_pip430.ops import Get, Insert
from entrycache_reference.rules import Rule

ROOT = locate_checkout()
PACKAGE = "entrycache_reference.pulsar_pip430"


@pytest.fixture(scope="module")
def runs():
    """A small part of the runs that `entrycache rules --check` tries."""
    with pytest.MonkeyPatch.context() as fewer:
        fewer.setattr(corpus, "CASES", 5)
        fewer.setattr(kafka, "CASES", 5)
        fewer.setattr(kafka, "RELEASED_CASES", 5)
        return corpus.build_corpus(ROOT / "tests" / "reference")


def mutant_problems(runs, exceptions):
    return [problem for ask in agreement._mutants(runs, exceptions) for problem in ask()]


@pytest.mark.long
def test_a_mutant_that_nothing_sees_is_a_problem(monkeypatch, runs):
    harmless = Fault(Rule.READ_1, "nothing is wrong", PACKAGE, {})
    monkeypatch.setattr(agreement.models, "RULE_FAULTS", (harmless,))
    assert "neither its law nor a test" in mutant_problems(runs, {})[0].what


@pytest.mark.long
def test_a_mutant_that_another_rule_sees_is_a_problem_unless_listed(monkeypatch, runs):
    marks_nothing = dataclasses.replace(FAULT_OF[Rule.READ_2], rule=Rule.READ_1)
    monkeypatch.setattr(agreement.models, "RULE_FAULTS", (marks_nothing,))
    problems = mutant_problems(runs, {})
    assert any("the law of R-READ-2 detects its seeded fault too" in problem.what for problem in problems)
    without_exceptions = mutant_problems(runs, {"R-READ-1": {"R-READ-2"}})
    assert not any("R-READ-2" in problem.what for problem in without_exceptions)


def test_more_than_ten_exceptions_are_a_problem(monkeypatch, runs):
    monkeypatch.setattr(agreement.models, "RULE_FAULTS", ())
    eleven = {f"R-STATE-{number}": {"R-READ-1"} for number in range(11)}
    assert "at most 10" in mutant_problems(runs, eleven)[0].what


def test_a_flip_that_nothing_sees_is_a_problem(monkeypatch, runs):
    monkeypatch.setattr(
        agreement.models, "derive_flips", lambda: (Fault(Rule.EVICT_1, "a harmless flip", PACKAGE, {}),)
    )
    assert agreement._flips(runs) == [agreement.Problem("R-EVICT-1", "no law detects the table with a harmless flip")]


def test_every_line_of_the_table_has_flips():
    lines = {Rule.EVICT_1, Rule.EVICT_2, Rule.EVICT_3, Rule.REQUEUE_1, Rule.REQUEUE_2, Rule.REQUEUE_3}
    assert {fault.rule for fault in derive_flips()} == lines
    assert len(tuple(derive_flips())) >= 25


@pytest.mark.long
def test_a_reference_that_breaks_a_law_is_a_problem(monkeypatch, runs):
    broken = FAULT_OF[Rule.INSERT_1]

    def breaking(recorded, fired):
        run = recorded.run
        return corpus.first_break(run, fired, broken.model if broken.rule in run.system.laws.rules else None)

    monkeypatch.setattr(agreement, "recorded_break", breaking)
    problems = agreement._fires(runs)
    (said,) = [problem.what for problem in problems if problem.rule == "R-INSERT-1"]
    assert said.startswith("the reference breaks its law in ")
    assert '; the shortest has 1 steps: [{"op": "insert"' in said
    assert "\n" not in said


def test_seeded_faults_of_a_reference_that_breaks_a_law_are_not_tried(monkeypatch):
    """Such faults show nothing, and some never end."""
    system = system_named("pulsar-pip430")
    one = corpus.Corpus((corpus.Run(system, system.model.config(), (Get(A, at(0)),)),), {})
    rules = []
    monkeypatch.setattr(agreement, "build_corpus", lambda *_: one)
    monkeypatch.setattr(
        agreement.scheduler, "map_in_processes", lambda call, items, progress: [call(item) for item in items]
    )
    monkeypatch.setattr(agreement, "recorded_break", lambda recorded, fired: (Rule.INSERT_1,))
    monkeypatch.setattr(agreement.examples, "check_example", lambda rule: rules.append(rule) or [])
    monkeypatch.setattr(agreement, "_fault", lambda fault, *_: rules.append(fault.rule) or [])
    for other in ("_links", "_vocabulary"):
        monkeypatch.setattr(agreement, other, lambda *_: [])
    monkeypatch.setattr(agreement.examples, "check_strays", lambda: [])
    problems = [problem for problem in agreement.check_rules() if "never fires" not in problem.what]
    assert [(problem.rule, problem.what.partition(" in ")[0]) for problem in problems] == [
        ("R-INSERT-1", agreement.BREAKS),
        ("pulsar-pip430", "its examples and seeded faults were not tried, because its reference breaks a law"),
    ]
    assert {Rule.K_PUT_1} < set(rules) and not set(rules) & set(system.laws.rules)
    assert [problem.what for problem in agreement.check_rule(Rule.READ_1)][-1] == problems[1].what


def test_an_example_in_which_the_reference_breaks_a_law_is_a_problem(monkeypatch):
    def breaks(*_):
        raise LawBroken("the reference breaks R-READ-1 at Get() in " + "State() " * 100)

    monkeypatch.setattr(examples, "run_reference", breaks)
    monkeypatch.setattr(examples, "_is_current", lambda example: [])
    monkeypatch.setattr(examples, "CHECKS", (examples._fires,))
    (problem,) = agreement.examples.check_example(Rule.READ_1)
    assert problem.what.startswith("its example breaks a law: the reference breaks R-READ-1 at Get() in State()")
    assert len(problem.what) < 400


def test_runs_are_made_of_a_reference_that_breaks_a_law(monkeypatch):
    """A broken law is reported where the runs are played."""
    right = system_named("pulsar-segmented")
    wrong = right._replace(model=right.model._replace(step=FAULT_OF[Rule.S_INSERT_1].model.step))
    monkeypatch.setattr(corpus, "CASES", 3)
    generated = list(corpus.generate_runs(wrong))
    assert len(generated) == corpus.CASES
    assert Rule.S_INSERT_1 in {rule for run in generated for rule in corpus.first_break(run, {})}


def test_a_test_that_fails_is_one_line(tmp_path):
    lines = [
        "import pytest",
        f"@pytest.mark.{'rule'}('R-READ-1')",  # in two parts, else this file would be one of the rule's
        "@pytest.mark.parametrize('at', [1, 2])",
        "def test_r_read_1__fails(at):",
        "    assert at == 1, 'no\\n second'",
    ]
    (tmp_path / "test_one.py").write_text("\n".join(lines), encoding="utf-8")
    corpus_of_system = corpus.build_corpus(tmp_path, system_named("pulsar-segmented"))
    assert corpus_of_system.failed == ()
    corpus_of_system = corpus.build_corpus(tmp_path, system_named("pulsar-pip430"))
    what = "its test test_r_read_1__fails[at=2] fails: AssertionError: no second"
    assert agreement._tests(corpus_of_system) == [Problem("R-READ-1", what)]


@pytest.mark.long
def test_replaying_the_affected_steps_of_a_fault_finds_what_playing_all_steps_finds(runs):
    faults = [*FAULT_OF.values()][::20]
    pairs = [
        (run, fault) for run in runs.recordings[::3] for fault in faults if fault.rule in run.run.system.laws.rules
    ]
    broken = [corpus.broken_by_fault(*pair) for pair in pairs]
    assert broken == [corpus.first_break(run.run, {}, fault.model, of_rules=True) for run, fault in pairs]
    assert sum(map(bool, broken)) > 20


@pytest.mark.long
def test_replaying_affected_steps_finds_what_playing_all_steps_finds():
    for run in corpus.build_corpus(ROOT / "tests" / "reference").recordings:
        for fault in FAULT_OF.values():
            if fault.rule in run.run.system.laws.rules:
                full = corpus.first_break(run.run, {}, fault.model, of_rules=True)
                assert corpus.broken_by_fault(run, fault) == full, (fault.note, run.run.events)


def test_a_rule_that_never_fires_is_a_problem():
    rules = {problem.rule for problem in agreement._fires(corpus.Corpus((), {}))}
    assert {"R-STATE-1", "R-EVICT-8"} <= rules


def test_a_heading_without_an_id_in_the_enum_and_a_must_without_links_are_problems(monkeypatch):
    unknown = rule_registry.Text("R-STATE-99", "state", "MUST", "text", "intent", "source")
    monkeypatch.setattr(agreement, "load_texts", lambda: [unknown])
    monkeypatch.setattr(agreement, "load_links", lambda: {unknown.id: rule_registry.Links([], [], [], [], [], [], [])})
    problems = [problem.what for problem in agreement._links() if problem.rule == unknown.id]
    assert problems == [
        "the enum Rule does not have it",
        "has no function",
        "has no law or test",
        "has no seeded fault",
    ]


def test_the_check_of_one_rule_finds_its_own_problems_and_no_others(monkeypatch, runs):
    systems = []
    monkeypatch.setattr(agreement, "build_corpus", lambda _, system, few: systems.append((system.name, few)) or runs)
    harmless = [Fault(rule, "nothing is wrong", PACKAGE, {}) for rule in (Rule.READ_1, Rule.READ_2)]
    monkeypatch.setattr(agreement.models, "RULE_FAULTS", tuple(harmless))
    problems = [Problem("R-READ-1", "has no function"), Problem("R-READ-2", "has no function")]
    monkeypatch.setattr(agreement, "_links", lambda: problems)
    unseen = Problem("R-READ-1", "neither its law nor a test of it detects its seeded fault: nothing is wrong")
    assert agreement.check_rule(Rule.READ_1) == [problems[0], unseen]
    assert systems == [("pulsar-pip430", True), ("pulsar-pip430", False)]


def test_a_problem_on_few_runs_that_all_runs_do_not_show_is_none(monkeypatch, runs):
    few_runs = corpus.Corpus((), {}, (("R-READ-1", "its test fails"),))
    monkeypatch.setattr(agreement, "build_corpus", lambda _, system, few: few_runs if few else runs)
    assert agreement._check_rule(Rule.READ_1, ROOT, few=True)
    assert agreement.check_rule(Rule.READ_1) == []


def test_a_step_that_throws_is_a_break():
    def throw(entry):
        raise ZeroDivisionError

    throwing = Model(PACKAGE, {"entries.mark_accessed": throw})
    with record_runs() as recorded, use_model(throwing), pytest.raises(ZeroDivisionError):
        play(Insert(A, at(0), 1), Get(A, at(0)))
    system = system_named(recorded[0][0])
    run = corpus.Run(system, *recorded[0][1:])
    assert corpus.first_break(run, {}, throwing) == (Rule.LIVENESS_2,)
    played = corpus.play_reference(
        run._replace(system=system._replace(model=system.model._replace(step=throwing.step)))
    )
    assert len(played.done) == 1
    assert corpus.recorded_break(played, {}) == (Rule.LIVENESS_2,)


def test_outside_a_checkout_the_check_says_so(monkeypatch):
    monkeypatch.setattr(agreement, "checkout", SimpleNamespace(locate_checkout=lambda: None))
    for command in (agreement.check_rules, agreement.write_rules):
        with pytest.raises(MissingPrerequisite, match="source checkout"):
            command()


def test_an_unknown_rule_is_a_usage_error():
    with pytest.raises(UsageError, match="R-NONE-1"):
        rule_registry.load_linked_rules("R-NONE-1")
