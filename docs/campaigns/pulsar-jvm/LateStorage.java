package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.apache.bookkeeper.client.BKException;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.client.api.LedgerEntry;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.client.impl.LedgerEntriesImpl;
import org.apache.bookkeeper.client.impl.LedgerEntryImpl;

/** What stores ledger 1: it answers late, in any order, with failures or too little, or throws. Buffers are kept. */
final class LateStorage {
    final List<ByteBuf> buffers = new ArrayList<>();
    final List<Request> requests = new ArrayList<>();
    private final Random random;
    private final StringBuilder history;
    private final boolean mayThrow;
    private final boolean mayBeShort;
    private boolean hasFailed;

    LateStorage(Random random, StringBuilder history, boolean mayThrow, boolean mayBeShort) {
        this.random = random;
        this.history = history;
        this.mayThrow = mayThrow;
        this.mayBeShort = mayBeShort;
    }

    /** Answers one of the requests that storage has, any of them, not the oldest. */
    void answer() {
        Request request = requests.remove(random.nextInt(requests.size()));
        int kind = random.nextInt(10);
        if (kind == 0) {
            boolean busy = random.nextBoolean();
            history.append(busy ? "; storage is busy for " : "; storage fails for ").append(request);
            hasFailed = true;
            request.answer.completeExceptionally(BKException.create(
                    busy ? BKException.Code.TooManyRequestsException : BKException.Code.ReadException));
            return;
        }
        long last = request.last;
        if (kind < 4 && mayBeShort) {
            last = request.first + random.nextInt((int) (request.last - request.first) + 1);
        }
        history.append("; storage answers ").append(request).append(last == request.last ? "" : " up to " + last);
        List<LedgerEntry> found = new ArrayList<>();
        for (long entry = request.first; entry <= last; entry++) {
            found.add(LedgerEntryImpl.create(1, entry, 10, bytes(entry)));
        }
        request.answer.complete(LedgerEntriesImpl.create(found));
    }

    /** Whether it has answered a request with a failure. */
    boolean hasFailed() {
        return hasFailed;
    }

    ByteBuf bytes(long entry) {
        ByteBuf made = Unpooled.buffer(10);
        made.writeLong(entry).writeShort(7);
        buffers.add(made);
        return made;
    }

    ReadHandle handle() {
        return (ReadHandle) Proxy.newProxyInstance(
                ReadHandle.class.getClassLoader(), new Class<?>[] {ReadHandle.class}, (proxy, method, given) -> {
            if (method.getName().equals("getId")) {
                return 1L;
            }
            if (!method.getReturnType().equals(CompletableFuture.class)) {
                return method.getReturnType().equals(long.class) ? (Object) 0L : null;
            }
            if (given == null || given.length < 2) {
                return CompletableFuture.completedFuture(null);
            }
            if (mayThrow && random.nextInt(5) == 0) {
                history.append("; storage throws at ").append(given[0]).append("..").append(given[1]);
                throw new IllegalStateException("storage");
            }
            Request request = new Request((long) given[0], (long) given[1]);
            requests.add(request);
            return request.answer;
        });
    }

    /** One read that it was asked for. */
    static final class Request {
        private final long first;
        private final long last;
        private final CompletableFuture<LedgerEntries> answer = new CompletableFuture<>();

        private Request(long first, long last) {
            this.first = first;
            this.last = last;
        }

        @Override
        public String toString() {
            return first + ".." + last;
        }
    }
}
