"""What both sides of the wire agree on: systems, cases, histories, declarations, messages, failures.

For the author of a subject in Python it is a library of five names:

    from entrycache_protocol import Subject, serve, check, Refuse, Skip

`Subject` is extended by a class with one method an operation, `serve` speaks the protocol for it on stdin and stdout,
and `check` holds it to the rules in a test; see `docs/how-to/python-subject.md`.
"""

from __future__ import annotations

from entrycache_protocol.author import Refuse, Subject, serve
from entrycache_protocol.check import check
from entrycache_protocol.server import Skip

__all__ = ["Refuse", "Skip", "Subject", "check", "serve"]
