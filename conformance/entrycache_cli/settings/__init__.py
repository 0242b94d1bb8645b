"""Settings of brokers and clients: files of Java properties, their values, and the effective configuration."""

from typing import Final

DIRECT_MEMORY_BYTES: Final = 4 << 30
"""The direct memory of a broker as shipped: conf/pulsar_env.sh has -XX:MaxDirectMemorySize=4g."""
