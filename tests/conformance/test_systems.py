"""The registry says of each system what its record says, and importing one system imports no other."""

from __future__ import annotations

import subprocess
import sys

import pytest

from entrycache_conformance.java.releases import FAMILIES, example_subjects, subject_names
from entrycache_conformance.systems import BUILT, SYSTEMS, system_of_fault

IMPORTED = """
import sys
from entrycache_conformance.resolve import SubjectChoice, open_in_process, resolve_subject
{statement}
print(sorted({{name.split(".")[2] for name in sys.modules if name.startswith("entrycache_conformance.systems.pulsar_")
              or name.startswith("entrycache_conformance.systems.kafka_")}}))
"""


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_registry_says_what_the_record_says(name: str) -> None:
    system = SYSTEMS[name]
    assert system.name == name
    assert list(BUILT[name].families) == ([] if system.jvm is None else [system.jvm.name])
    faults = [*system.faults, *(() if system.histories is None else system.histories.faults)]
    assert [fault for fault in faults if system_of_fault(fault) is not system] == []


def test_families_have_the_subject_names_of_their_records() -> None:
    assert {name: family.called for name, family in FAMILIES.items()} == subject_names()
    assert [example.partition(":")[0] for example in example_subjects()] == list(subject_names().values())


@pytest.mark.parametrize(
    ("statement", "imported"),
    [
        ('open_in_process("fast")', ["pulsar_pip430"]),
        ('open_in_process("reference", "kafka-streams")', ["kafka_streams"]),
        ('open_in_process("segmented-usage-keeps-growing")', ["pulsar_segmented"]),
    ],
)
def test_a_subject_imports_its_own_system_only(statement: str, imported: list[str]) -> None:
    program = IMPORTED.format(statement=statement)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"{imported}\n"
