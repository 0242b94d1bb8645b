"""Traces of random cases of the levels of managed ledgers, with the rows of the reference."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

from entrycache_conformance import generate
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import config_to_json
from entrycache_reference.pulsar_pip430.state import initial
from entrycache_trace.files import Metadata
from entrycache_trace.formats.pulsar_pip430 import ReadRows
from entrycache_trace.recording import CaseStep, TraceWriter


def record_level(folder: Path, level: str, cases: int) -> None:
    """Record random cases of a level with the rows of the reference, a broker each."""
    subject, system = resolve_subject(SubjectChoice("reference", system="pulsar-pip430")), SYSTEMS["pulsar-pip430"]
    menu = system.cases.menu(list(subject.declaration.ops), level)
    source, writer = random.Random(7), TraceWriter(folder, Metadata())
    for number in range(cases):
        generated = generate.record_case(source, subject.declaration, menu, None, None).generated
        recorder = writer.recorder(f"b{number}", config_to_json(system, generated.case.config))
        rows, before = ReadRows(recorder), initial(generated.case.config)
        for op, step in zip(generated.case.steps, generated.steps, strict=True):
            rows.record(CaseStep(op, partial(system.wire.write_outcome, step.outcome), step.rows, step.state), before)
            before = step.state
        recorder.close()
