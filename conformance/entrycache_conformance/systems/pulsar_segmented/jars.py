"""The released jars of `pulsar-segmented`: the read cache of Apache BookKeeper, whose design PIP-174 follows."""

from typing import Final

from entrycache_protocol.system import Family

BOOKKEEPER: Final = Family(
    name="bookkeeper",
    title="BookKeeper",
    system="pulsar-segmented",
    coordinates="org.apache.bookkeeper:bookkeeper-server",
    main="entrycache.bookkeeper.ReadCacheDriver",
    modules=("protocol",),
    options=("-Dio.netty.leakDetection.level=disabled",),
)
"""The family of jars; its subjects are called `bookkeeper:VERSION`."""
