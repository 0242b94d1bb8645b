package org.apache.bookkeeper.mledger.impl;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Queue;
import org.apache.bookkeeper.client.BookKeeper;
import org.apache.bookkeeper.common.util.OrderedScheduler;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.proto.ManagedLedgerInfo;

/** Access to what {@link ManagedLedgerImpl} keeps within its package. */
public final class ManagedLedgers {
    private ManagedLedgers() {}

    /** Begins to open a new managed ledger, whose metadata store keeps nothing and answers through a queue. */
    public static ManagedLedgerImpl open(
            ManagedLedgerFactoryImpl factory,
            BookKeeper storage,
            Queue<Runnable> metadata,
            ManagedLedgerConfig config,
            OrderedScheduler scheduler,
            String name) {
        ManagedLedgerImpl ledger =
                new ManagedLedgerImpl(factory, storage, store(metadata), config, scheduler, name);
        ledger.initialize(
                new ManagedLedgerImpl.ManagedLedgerInitializeLedgerCallback() {
                    @Override
                    public void initializeComplete() {}

                    @Override
                    public void initializeFailed(ManagedLedgerException failure) {
                        throw new IllegalStateException("the managed ledger does not open", failure);
                    }
                },
                null);
        return ledger;
    }

    /** Opens the handles of all ledgers but the current one, so that no later read has to wait for them. */
    public static void openHandles(ManagedLedgerImpl ledger) {
        for (long id : ledger.getLedgersInfo().keySet()) {
            if (id != ledger.getLedgersInfo().lastKey()) {
                ledger.getLedgerHandle(id);
            }
        }
    }

    /** Deletes a ledger as trimming does. */
    public static void delete(ManagedLedgerImpl ledger, long id) {
        ledger.doDeleteLedgers(List.of(ledger.getLedgersInfo().get(id)));
    }

    /** Returns a store that knows nothing, and confirms everything. */
    private static MetaStore store(Queue<Runnable> metadata) {
        return (MetaStore) Proxy.newProxyInstance(
                MetaStore.class.getClassLoader(), new Class<?>[] {MetaStore.class}, (proxy, method, given) -> {
                    if (given != null && given[given.length - 1] instanceof MetaStore.MetaStoreCallback<?> callback) {
                        metadata.add(() -> answer(method.getName(), callback));
                    }
                    return null;
                });
    }

    @SuppressWarnings("unchecked")
    private static void answer(String asked, MetaStore.MetaStoreCallback<?> callback) {
        Object answer =
                switch (asked) {
                    case "getManagedLedgerInfo" -> new ManagedLedgerInfo();
                    case "getCursors" -> List.of();
                    default -> null;
                };
        ((MetaStore.MetaStoreCallback<Object>) callback).operationComplete(answer, null);
    }
}
