"""Traces of random cases of managed ledgers and of caching stores, with the rows of the reference."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from typing import Any

from entrycache_cli.commands.kafka_recording import play_stores
from entrycache_conformance import generate
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import config_to_json
from entrycache_reference.pulsar_pip430.state import initial
from entrycache_trace.files import Metadata, iterate_rows, list_parts, write_rows
from entrycache_trace.formats.kafka_streams import write_case_trace
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
            outcome = partial(system.wire.write_outcome, step.outcome)
            rows.record(CaseStep(op, outcome, step.rows, step.state, step.parts), before)
            before = step.state
        recorder.close()


def record_stores(folder: Path, level: str, cases: int) -> None:
    """Record random cases of caching stores with the rows of the reference, a broker each."""
    system = SYSTEMS["kafka-streams"]
    subject = resolve_subject(SubjectChoice("reference", system="kafka-streams"))
    menu, source = system.cases.menu(list(subject.declaration.ops), level), random.Random(11)
    rows: list[dict[str, Any]] = []
    for number in range(cases):
        case = generate.record_case(source, subject.declaration, menu, None, None).generated.case
        calls = [
            CaseStep(op, partial(system.wire.write_outcome, outcome), of_step, None)
            for op, (outcome, of_step) in zip(case.steps, play_stores(case), strict=True)
        ]
        own = folder.with_name(f"{folder.name}-{number}")
        write_case_trace(own, Metadata(system="kafka-streams"), config_to_json(system, case.config), calls)
        rows += [{**row, "broker": f"b{number}"} for row in iterate_rows(list_parts(own))]
    write_rows(folder, Metadata(system="kafka-streams"), rows)
