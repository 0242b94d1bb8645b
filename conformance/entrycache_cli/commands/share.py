"""The command `entrycache share`: compute a thread's share of a Kafka Streams client's record cache.

`read_client` reads the settings of a client from a file (Kafka's or Spring Boot's) and the command line. The reference
computes the share of a thread; `share_json` and `share_lines` present it, with the number of entries that fit.
"""

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from entrycache_cli.commands.options import exits_with_code, json_option
from entrycache_cli.report.terminal import echo
from entrycache_cli.settings.properties import COUNT, INT_MAX, LONG, LONG_MAX, GivenSetting, Kind
from entrycache_cli.settings.spring import DEPRECATED, TOTAL, client_settings
from entrycache_protocol.errors import UsageError, escape_unprintable
from entrycache_reference.kafka_streams import Config, change, initial, ops, outcomes, step

THREADS: Final = "num.stream.threads"
KINDS: Final[dict[str, Kind]] = {TOTAL: LONG, DEPRECATED: LONG, THREADS: COUNT}
DEFAULTS: Final = {TOTAL: 10_485_760, THREADS: 1}
"""Defaults of `StreamsConfig`, the same in 3.9.2, 4.0.0 and 4.3.1."""


class Setting(NamedTuple):
    """The value of a setting and its source."""

    value: int
    source: str


class Client(NamedTuple):
    """The settings of a client's cache; `threads` counts stream threads without the global one."""

    total_bytes: Setting
    threads: Setting
    global_thread: bool
    notes: tuple[str, ...] = ()


class Entry(NamedTuple):
    """An entry as a cache counts it: sizes in bytes, names of topic and headers in UTF-16 units."""

    key_bytes: int = 0
    value_bytes: int = 0
    topic: str = ""
    header_bytes: int = 0

    @property
    def counted_bytes(self) -> int:
        """The bytes that the entry counts (K-SIZE-1)."""
        return change.size_bytes("", "", self.topic, ()) + self.key_bytes + self.value_bytes + self.header_bytes


def share_bytes(total_bytes: int, threads: int, global_thread: bool) -> int:
    """Return the bytes of each thread's cache (K-SHARE-1), computed by the reference."""
    config = Config()
    answer = step(initial(config), ops.Share(total_bytes, threads, global_thread), config).outcome.answer
    assert isinstance(answer, outcomes.Shared)
    return answer.bytes


def read_client(path: Path | None, total_bytes: int | None, threads: int | None, global_thread: bool) -> Client:
    """Read the client that a properties file describes; values from the command line replace those of the file.

    As in `StreamsConfigUtils.totalCacheSize`, the deprecated name counts only if the other one is absent.

    Raises:
        UsageError: the file cannot be read, or it gives a setting twice or an impossible value.
    """
    notes: list[str] = []
    settings = {} if path is None else _read_settings(path, notes)
    total = settings.get(TOTAL) or settings.get(DEPRECATED) or Setting(DEFAULTS[TOTAL], "default")
    count = settings.get(THREADS) or Setting(DEFAULTS[THREADS], "default")
    if total_bytes is not None:
        total = Setting(total_bytes, "--total")
    if threads is not None:
        count = Setting(threads, "--threads")
    if count.value == 0 and not global_thread:
        raise UsageError(f"{count.source} says 0 stream threads; expected at least 1, or --global-thread")
    return Client(total, count, global_thread, tuple(notes))


def _read_settings(path: Path, notes: list[str]) -> dict[str, Setting]:
    """Return the settings of a file by their names; add a note about what was not read."""
    settings: dict[str, Setting] = {}
    client = client_settings(path)
    notes += client.notes
    for given in client.given:
        if given.name not in KINDS:
            continue
        if given.name in settings:
            raise UsageError(f"{path}: line {given.line}: {given.name} is given twice; expected once")
        settings[given.name] = Setting(_read_value(path, given), f"{given.name}, {path.name} line {given.line}")
    if not settings:
        notes.append(
            f"{path}: no setting was recognised; expected {', '.join(KINDS)}, in a Spring Boot file below "
            "spring.kafka.streams.properties, or spring.kafka.streams.state-store-cache-max-size"
        )
    return settings


def _read_value(path: Path, given: GivenSetting) -> int:
    value = KINDS[given.name].read(given.name, given.text.strip(), f"{path}: line {given.line}")
    assert isinstance(value, int)
    return value


def share_json(client: Client, entry: Entry, caches: int) -> dict[str, Any]:
    """Return all numbers, with the sources of the settings."""
    share = share_bytes(client.total_bytes.value, client.threads.value, client.global_thread)
    takers = max(1, client.threads.value + client.global_thread)
    return {
        "total_bytes": client.total_bytes.value,
        "total_from": client.total_bytes.source,
        "threads": client.threads.value,
        "threads_from": client.threads.source,
        "global_thread": client.global_thread,
        "thread_bytes": share,
        "unused_bytes": client.total_bytes.value - share * takers,
        "key_bytes": entry.key_bytes,
        "value_bytes": entry.value_bytes,
        "entry_bytes": entry.counted_bytes,
        "caches": caches,
        "entries": share // entry.counted_bytes,
        "entries_each_if_written_alike": share // caches // entry.counted_bytes,
    }


def share_lines(numbers: dict[str, Any]) -> list[str]:
    """Describe the numbers in sentences, one a line."""
    threads = f"{numbers['threads']} stream thread{'' if numbers['threads'] == 1 else 's'}"
    takers = f"{threads} and a global thread" if numbers["global_thread"] else threads
    lines = [
        f"{numbers['total_bytes']} bytes for the client ({numbers['total_from']}), "
        f"{takers} ({numbers['threads_from']})",
        f"each thread: {numbers['thread_bytes']} bytes; {numbers['unused_bytes']} are nobody's",
        "each store of each task: nothing of its own; all caches of a thread share its bytes, the one that is "
        "written pays for the overflow, the others keep what they hold",
        f"an entry with a key of {numbers['key_bytes']} and a value of {numbers['value_bytes']} bytes counts "
        f"{numbers['entry_bytes']} with what is beside them",
    ]
    if numbers["total_bytes"] == 0:
        return [*lines, "nothing is kept: every write is written below and forwarded at once"]
    if numbers["entries"] == 0:
        return [*lines, "none fits: such a write evicts all of its own cache and then itself"]
    lines.append(f"{numbers['entries']} fit where one cache has the thread to itself")
    if numbers["caches"] > 1:
        each = numbers["entries_each_if_written_alike"]
        lines.append(f"{each} in each of {numbers['caches']} caches where all are written alike: an average, no limit")
    return lines


SIZE = click.IntRange(0, INT_MAX)


@click.command("share")
@click.option("--total", type=click.IntRange(0, LONG_MAX), metavar="BYTES", help="statestore.cache.max.bytes.")
@click.option("--threads", type=SIZE, metavar="N", help="num.stream.threads.")
@click.option("--global-thread", is_flag=True, help="The topology has a global table or store.")
@click.option(
    "--config", type=click.Path(path_type=Path), metavar="FILE", help="A client's properties, or a Spring Boot file."
)
@click.option(
    "--key-bytes", type=SIZE, default=0, show_default=True, metavar="N", help="The bytes of a serialized key."
)
@click.option(
    "--value-bytes", type=SIZE, default=0, show_default=True, metavar="N", help="The bytes of a serialized value."
)
@click.option("--topic", default="", metavar="TEXT", help="The topic of the record behind an entry.")
@click.option(
    "--header-bytes", type=SIZE, default=0, show_default=True, metavar="N", help="The bytes of that record's headers."
)
@click.option("--stores", type=click.IntRange(1, INT_MAX), default=1, show_default=True, metavar="N",
              help="The caching stores of one thread, over all its tasks.")  # fmt: skip
@json_option
@exits_with_code
def command(
    total: int | None,
    threads: int | None,
    global_thread: bool,
    config: Path | None,
    key_bytes: int,
    value_bytes: int,
    topic: str,
    header_bytes: int,
    stores: int,
    as_json: bool,
) -> int:
    """Show a thread's and a store's share of a Kafka Streams client's record cache.

    The values of --config apply unless --total or --threads is given; without --config the defaults of Kafka Streams
    do.
    """
    client = read_client(config, total, threads, global_thread)
    numbers = share_json(client, Entry(key_bytes, value_bytes, topic, header_bytes), stores)
    numbers["notes"] = list(client.notes)
    lines = [*share_lines(numbers), *(escape_unprintable(f"note: {note}") for note in client.notes)]
    echo(json.dumps(numbers) if as_json else "\n".join(lines))
    return 0
