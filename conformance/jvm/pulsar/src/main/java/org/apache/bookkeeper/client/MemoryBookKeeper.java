package org.apache.bookkeeper.client;

import io.netty.buffer.ByteBuf;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.apache.bookkeeper.client.api.CreateBuilder;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.client.api.OpenBuilder;
import org.apache.bookkeeper.common.util.OrderedExecutor;

/**
 * A BookKeeper in memory: it makes ledgers, gives them out for reading, and has a {@link Reader} answer their reads.
 *
 * <p>It is made without a constructor, because those of {@link BookKeeper} start threads. So {@link #begin} sets what a
 * constructor would.
 */
public final class MemoryBookKeeper extends BookKeeper {
    /** The ids of ledgers of cursors lie above all ids that a step may name. */
    private static final long FIRST_CURSOR_LEDGER = 1L << 60;

    private OrderedExecutor workers;
    private BiFunction<Integer, Long, ByteBuf> payload;
    private Supplier<MemoryLedger> make;
    private Map<Long, MemoryLedger> ledgers;
    private Reader reader;
    private Long next;
    private long nextCursorLedger;

    /** Answers the reads of ledgers. {@code entries} makes the answer that holds the first few entries of the range. */
    public interface Reader {
        CompletableFuture<LedgerEntries> read(long ledger, long first, long last, LongFunction<LedgerEntries> entries);
    }

    /** Never called. */
    private MemoryBookKeeper() {}

    public void begin(
            OrderedExecutor workers,
            BiFunction<Integer, Long, ByteBuf> payload,
            Supplier<MemoryLedger> make,
            Reader reader) {
        this.workers = workers;
        this.payload = payload;
        this.make = make;
        this.reader = reader;
        this.ledgers = new TreeMap<>();
        this.nextCursorLedger = FIRST_CURSOR_LEDGER;
    }

    /** Names the next ledger that a managed ledger makes for its entries. */
    public void nextLedger(long id) {
        next = id;
    }

    CompletableFuture<LedgerEntries> read(long ledger, long first, long last, LongFunction<LedgerEntries> entries) {
        return reader.read(ledger, first, last, entries);
    }

    @Override
    public OrderedExecutor getMainWorkerPool() {
        return workers;
    }

    @Override
    public void asyncCreateLedger(
            int ensemble,
            int writeQuorum,
            int ackQuorum,
            DigestType digest,
            byte[] password,
            AsyncCallback.CreateCallback callback,
            Object context,
            Map<String, byte[]> metadata) {
        callback.createComplete(BKException.Code.OK, create(), context);
    }

    @Override
    public CreateBuilder newCreateLedgerOp() {
        return builder(CreateBuilder.class, this::create, 0);
    }

    @Override
    public OpenBuilder newOpenLedgerOp() {
        return builder(OpenBuilder.class, null, 0);
    }

    @Override
    public void asyncDeleteLedger(long id, AsyncCallback.DeleteCallback callback, Object context) {
        callback.deleteComplete(BKException.Code.OK, context);
    }

    private MemoryLedger create() {
        long id = next == null ? nextCursorLedger++ : next;
        next = null;
        MemoryLedger ledger = make.get();
        ledger.begin(id, payload, this);
        ledgers.put(id, ledger);
        return ledger;
    }

    /** Returns a builder that remembers nothing but the id of the ledger to open. */
    private <T> T builder(Class<T> type, Supplier<MemoryLedger> create, long id) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> {
            switch (method.getName()) {
                case "execute":
                    return CompletableFuture.completedFuture(create == null ? ledgers.get(id) : create.get());
                case "withLedgerId":
                    return builder(type, create, (Long) given[0]);
                default:
                    return proxy;
            }
        }));
    }
}
