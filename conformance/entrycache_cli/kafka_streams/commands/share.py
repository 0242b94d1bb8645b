"""`entrycache share`: what a thread of a Kafka Streams client gets of `statestore.cache.max.bytes`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from entrycache_cli.commands.options import ends_with_code, json_option
from entrycache_cli.kafka_streams.share import Entry, client_of, in_words, to_json
from entrycache_cli.report.terminal import echo
from entrycache_cli.settings.kinds import INT_MAX, LONG_MAX

SIZE = click.IntRange(0, INT_MAX)


@click.command("share")
@click.option("--total", type=click.IntRange(0, LONG_MAX), metavar="BYTES", help="statestore.cache.max.bytes.")
@click.option("--threads", type=SIZE, metavar="N", help="num.stream.threads.")
@click.option("--global-thread", is_flag=True, help="The topology has a global table or store.")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="A client's properties file.")
@click.option("--key-bytes", type=SIZE, default=0, show_default=True, metavar="N", help="Bytes of a serialized key.")
@click.option("--value-bytes", type=SIZE, default=0, show_default=True, metavar="N", help="Of a serialized value.")
@click.option("--topic", default="", metavar="TEXT", help="The topic of the record that an entry is written for.")
@click.option("--header-bytes", type=SIZE, default=0, show_default=True, metavar="N", help="Headers of that record.")
@click.option("--stores", type=click.IntRange(1, INT_MAX), default=1, show_default=True, metavar="N",
              help="Caching stores of one thread, those of each of its tasks counted.")  # fmt: skip
@json_option
@ends_with_code
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
    """Show what a thread and a store of a Kafka Streams client get of its record cache.

    Without --total and --threads those of --config count, without --config the defaults of Kafka Streams.
    """
    client = client_of(config, total, threads, global_thread)
    numbers = to_json(client, Entry(key_bytes, value_bytes, topic, header_bytes), stores)
    echo(json.dumps(numbers) if as_json else "\n".join(in_words(numbers)))
    return 0
