"""What several threads on one cache are promised: histories, and the laws that judge them.

A history is what each of several threads did to one cache, each step between two ticks of one counter. It is judged
by what is promised under concurrency, not by one exact order.
"""

from __future__ import annotations

from entrycache_reference.judged import Break, Event, Judged
from entrycache_reference.kafka_streams.threads.laws import LAWS, judged
from entrycache_reference.kafka_streams.threads.order import STATES_MAX
from entrycache_reference.kafka_streams.threads.record import Record

__all__ = ["LAWS", "STATES_MAX", "Break", "Event", "Judged", "Record", "judged"]
