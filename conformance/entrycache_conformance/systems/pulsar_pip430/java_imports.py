"""What the Java file of a case imports, by what the case needs."""

from __future__ import annotations

from typing import Final

_MANAGED_LEDGER: Final = "org.apache.bookkeeper.mledger"

_ALWAYS: Final = (
    "java.lang.reflect.Field",
    "java.util.Arrays",
    "java.util.LinkedHashMap",
    "java.util.List",
    "java.util.Map",
    "java.util.concurrent.Callable",
    f"{_MANAGED_LEDGER}.Position",
    f"{_MANAGED_LEDGER}.PositionFactory",
    "sun.misc.Unsafe",
)

_BY_PART: Final = {
    "clock": ("entrycache.agent.Clock",),
    "manager": (
        "io.opentelemetry.api.OpenTelemetry",
        "java.lang.reflect.InvocationHandler",
        "java.lang.reflect.Proxy",
        "java.util.ArrayDeque",
        "java.util.Queue",
        "java.util.TreeMap",
        f"{_MANAGED_LEDGER}.ManagedLedgerConfig",
        f"{_MANAGED_LEDGER}.ManagedLedgerFactoryConfig",
        f"{_MANAGED_LEDGER}.impl.ManagedLedgerFactoryImpl",
        f"{_MANAGED_LEDGER}.impl.ManagedLedgerFactoryMBeanImpl",
        f"{_MANAGED_LEDGER}.impl.ManagedLedgerImpl",
    ),
    "insert": (
        "org.apache.pulsar.common.api.proto.MessageMetadata",
        f"{_MANAGED_LEDGER}.impl.EntryImpl",
    ),
    "payload": ("io.netty.buffer.ByteBuf", "io.netty.buffer.Unpooled", "java.util.ArrayList"),
    "wrappers": ("java.util.concurrent.atomic.AtomicReferenceArray",),
    "range": ("java.lang.reflect.Method", "java.util.function.IntSupplier"),
    "observe": ("java.util.ArrayList", "java.util.IdentityHashMap"),
    "reads": ("java.util.HashMap", f"{_MANAGED_LEDGER}.Entry"),
    "storage": (
        "java.util.HashSet",
        "java.util.Set",
        "java.util.concurrent.CompletableFuture",
        "java.util.concurrent.ConcurrentSkipListMap",
        "org.apache.bookkeeper.client.api.LedgerEntry",
        "org.apache.bookkeeper.client.api.ReadHandle",
        "org.apache.bookkeeper.client.impl.LedgerEntriesImpl",
        "org.apache.bookkeeper.client.impl.LedgerEntryImpl",
        f"{_MANAGED_LEDGER}.AsyncCallbacks.ReadEntriesCallback",
        f"{_MANAGED_LEDGER}.AsyncCallbacks.ReadEntryCallback",
        f"{_MANAGED_LEDGER}.ManagedLedgerException",
        f"{_MANAGED_LEDGER}.impl.ManagedLedgerMBeanImpl",
    ),
    "cursors": (
        "java.util.HashMap",
        f"{_MANAGED_LEDGER}.impl.ActiveManagedCursorContainer",
        f"{_MANAGED_LEDGER}.impl.ManagedCursorImpl",
    ),
    "active": (f"{_MANAGED_LEDGER}.impl.ActiveManagedCursorContainerImpl",),
    "heap": (f"{_MANAGED_LEDGER}.impl.ManagedCursorContainerImpl",),
}


def imports(parts: frozenset[str]) -> list[str]:
    """The names, sorted."""
    return sorted({*_ALWAYS, *(name for part in parts for name in _BY_PART[part])})
