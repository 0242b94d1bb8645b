"""Write docs/reference/settings.md: the table of a Pulsar broker's cache settings.

`python -m entrycache_dev.pages.settings` writes it. Each setting has a row with its default in each era, and with
whether a value in the file takes effect there.
"""

from pathlib import Path
from typing import Final

from entrycache_cli.settings import DIRECT_MEMORY_BYTES, pulsar_effective, pulsar_table

HEAD: Final = """# Settings of a broker's cache

```console
$ entrycache settings --broker-conf broker.conf --era 4.2        # each setting, and the configuration that comes out
$ entrycache conform fast --broker-conf broker.conf --era 5.0    # runs with that configuration only
$ entrycache trace generate tail-fanout --events 10000 --out t --broker-conf broker.conf --era 5.0
$ entrycache audit t --broker-conf broker.conf --era 5.0         # also: the trace was recorded with these settings
```

The file is read as the broker reads it (Java properties, ISO-8859-1), but strictly. A setting that only the cache could
mean and no release has, a setting that is given twice, and a value that is malformed or out of range give one line and
exit 2. Settings that are not the cache's are ignored. An empty value stands for the default. A file has at most 1 MiB,
and a setting has at most 1,000 lines.

One release stands for an era: 4.0.8 for 4.0, 4.2.4 for 4.2, 5.0.1 for 5.0. Names, types, defaults and dynamic settings
are those of the class `ServiceConfiguration` of 4.0.8, 4.2.4 and 5.0.0-M1. The effect of a value was read from the
classes `ManagedLedgerClientFactory` and `BrokerService` of each release. `ServiceConfiguration` of 5.0.1 is not
published; the one default known to differ from 5.0.0-M1 comes from pull request 26627. No 4.1 release is available.

`acts` below holds for a file that sets nothing. "Dynamic" says whether `pulsar-admin brokers update-dynamic-config`
accepts the setting. The last column has the name in cases (`config`), traces (CONFIG) and `--config`, in bytes and
nanoseconds: `max_size_bytes` = MB x 1048576, `ttl_nanos` = ms x 1000000, `grace_millis` 0 = off.
`storage_entry_size` and `eviction` of a case are no broker setting.

"""

NOTES: Final = """
The default of `managedLedgerCacheSizeMB` is max(64, a fifth of the direct memory), here for the 4096 MB of
`conf/pulsar_env.sh` as shipped; `--direct-memory-mb` changes it. A limit above 2^33 MB, or a time to live above
(2^53 - 1) / 10^6 ms, cannot be written in a case and is out of range.

If 5.0 has no value for `managedLedgerMaxReadsInFlightSizeInMB`, the broker computes max(15 % of the direct memory,
`dispatcherMaxReadSizeBytes`) (pull request 25979); the command shows the result in MB.

The cache, reads in flight and publish buffers (`maxMessagePublishBufferSizeInMB`, by default half of the direct memory)
take direct memory. The command warns if their limits together exceed it; `--json` has them in `memory` and `warnings`.
One of the three that has no limit counts as 0. The exit code stays 0.

The three `brokerAdaptiveRecvByteBufAllocator...` names are those that PIP-430 proposes; `entrycache trace simulate`
uses them in its model of retained bytes (simulate.md).

| setting without effect | condition |
|---|---|
"""

OCCASIONS: Final = (
    ("every setting but the limit itself and, in 5.0, the limiter of reads", "`managedLedgerCacheSizeMB` is 0"),
    ("`managedLedgerCacheEvictionIntervalMs`", "`managedLedgerCacheEvictionFrequency` is above 0"),
    ("`cacheEvictionByMarkDeletedPosition`, the backlog settings", "4.2, 5.0: `cacheEvictionByExpectedReadCount` true"),
    ("`managedLedgerContinueCaching...Millis`", "4.2: always; 5.0: `cacheEvictionByExpectedReadCount` is false"),
    ("both `...ExtendTTLOf...` settings", "4.2: until they are changed dynamically; 5 and true hold before"),
    ("`...BacklogEntries...`, `...BacklogBetween...`", "`managedLedgerMinimumBacklogCursorsForCaching` is 0"),
    ("`...PermitsAcquire...`", "`managedLedgerMaxReadsInFlightSizeInMB` is 0"),
)


def render_page() -> str:
    """Return the page."""
    lines = ["| setting | unit | " + " | ".join(_era_columns()) + " | dynamic | key |", "|---|---" + "|---" * 5 + "|"]
    lines += [_setting_row(setting) for setting in pulsar_table.SETTINGS.values()]
    occasions = [f"| {what} | {when} |" for what, when in OCCASIONS]
    return HEAD + "\n".join(lines) + "\n" + NOTES + "\n".join(occasions) + "\n"


def _era_columns() -> list[str]:
    return [f"{era.value}: default, acts" for era in pulsar_table.Era]


def _setting_row(setting: pulsar_table.Setting) -> str:
    columns = []
    for era in pulsar_table.Era:
        values = pulsar_effective.SettingValues(
            era,
            {name: each.default(era, DIRECT_MEMORY_BYTES) for name, each in pulsar_table.SETTINGS.items()},
            pulsar_table.computed_reads_in_flight(DIRECT_MEMORY_BYTES, pulsar_table.READ_BYTES_DEFAULT),
        )
        status = pulsar_effective.setting_status(setting.name, values)
        if setting.eras and era not in setting.eras:
            columns.append("not there")
            continue
        acts = {
            pulsar_effective.Applicability.YES: "yes",
            pulsar_effective.Applicability.NO: "no",
            pulsar_effective.Applicability.DYNAMIC: "when changed",
        }[status.acts]
        columns.append(f"{pulsar_effective.plain_value(setting.default(era, DIRECT_MEMORY_BYTES))}, {acts}")
    dynamic = "yes" if setting.dynamic else "no"
    key = f"`{setting.key}`" if setting.key else ""
    return f"| `{setting.name}` | {setting.unit or 'true, false'} | {' | '.join(columns)} | {dynamic} | {key} |"


if __name__ == "__main__":
    Path("docs/reference/settings.md").write_text(render_page(), encoding="utf-8")
