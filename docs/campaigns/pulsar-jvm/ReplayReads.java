package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.opentelemetry.api.OpenTelemetry;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.bookkeeper.client.BKException;
import org.apache.bookkeeper.client.LedgerHandle;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.client.api.LedgerEntry;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.client.impl.LedgerEntriesImpl;
import org.apache.bookkeeper.client.impl.LedgerEntryImpl;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntriesCallback;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedCursorImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryMBeanImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerMBeanImpl;
import org.apache.pulsar.common.util.collections.ConcurrentLongHashMap;
import sun.misc.Unsafe;

/*
 * Random replays (ManagedCursorImpl.asyncReplayEntries) of positions of one ledger, some cached, some acknowledged, with
 * and without a limit of permits, while storage answers late, out of order, with failures or throws. One thread, no
 * clock: the same seed does the same. Arguments: the first seed, and how many worlds. Prints one JSON object.
 *
 * What is held in each world, once everything that was begun has been answered:
 *   answered  each replay was answered once, and not at all where all of its positions are acknowledged
 *   skipped   what is returned at once are the positions that are acknowledged
 *   entries   a replay that succeeded delivered its other positions, in order, each with its own bytes
 *   bytes     an emptied cache counts 0 bytes, and so does its manager
 *   buffers   no buffer is held by anybody, and none was released once too often
 *   permits   all permits are back
 */
public final class ReplayReads {
    private static final int ENTRIES = 24;
    private static final int EXPECTED = 4;
    private static final long ACKNOWLEDGED = 5;
    private static final String[] MODES = {"late", "throwing storage"};

    private final Random random;
    private final String mode;
    private final List<Request> requests = new ArrayList<>();
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private final List<Reader> readers = new ArrayList<>();
    private final List<Entry> held = new ArrayList<>();
    private final List<ByteBuf> buffers = new ArrayList<>();
    private final Map<String, Integer> broken = new TreeMap<>();
    private final StringBuilder history = new StringBuilder();
    private RangeEntryCacheManagerImpl manager;
    private RangeEntryCacheImpl cache;
    private ManagedCursorImpl cursor;
    private boolean acknowledges;
    private final ConcurrentLongHashMap<CompletableFuture<ReadHandle>> handles =
            ConcurrentLongHashMap.<CompletableFuture<ReadHandle>>newBuilder().build();
    private long limit;

    private ReplayReads(long seed) {
        random = new Random(seed * 0x9E3779B97F4A7C15L);
        random.nextInt();
        mode = MODES[random.nextInt(MODES.length)];
    }

    public static void main(String[] arguments) throws Exception {
        long first = Long.parseLong(arguments[0]);
        long count = Long.parseLong(arguments[1]);
        Map<String, int[]> told = new TreeMap<>();
        Map<String, String> examples = new TreeMap<>();
        long reads = 0;
        for (long seed = first; seed < first + count; seed++) {
            ReplayReads world = new ReplayReads(seed);
            try {
                world.live();
            } catch (RuntimeException thrown) {
                world.broken.put("throws", 1);
            }
            reads += world.readers.size();
            told.computeIfAbsent("worlds: " + world.mode, key -> new int[1])[0]++;
            for (var one : world.broken.entrySet()) {
                String key = world.mode + ": " + one.getKey();
                told.computeIfAbsent(key, name -> new int[1])[0]++;
                examples.putIfAbsent(key, "seed " + seed + ": " + world.history);
            }
        }
        StringBuilder json = new StringBuilder("{\"first_seed\": " + first + ", \"worlds\": " + count + ", \"reads\": " + reads);
        json.append(", \"met\": {");
        String between = "";
        for (var one : told.entrySet()) {
            json.append(between).append('"').append(one.getKey()).append("\": ").append(one.getValue()[0]);
            between = ", ";
        }
        json.append("}, \"examples\": {");
        between = "";
        for (var one : examples.entrySet()) {
            json.append(between).append('"').append(one.getKey()).append("\": \"").append(one.getValue()).append('"');
            between = ", ";
        }
        System.out.println(json.append("}}"));
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private void live() throws Exception {
        start();
        int steps = 10 + random.nextInt(30);
        for (int step = 0; step < steps; step++) {
            step();
        }
        for (int rest = 0; rest < 10_000 && (!requests.isEmpty() || !tasks.isEmpty() || !held.isEmpty()); rest++) {
            if (!tasks.isEmpty()) {
                tasks.poll().run();
            } else if (!requests.isEmpty()) {
                answer();
            } else {
                release();
            }
        }
        look();
    }

    private void step() throws Exception {
        switch (random.nextInt(8)) {
            case 0 -> add(random.nextInt(ENTRIES));
            case 1, 2, 3 -> {
                replay();
            }
            case 4, 5 -> {
                if (!requests.isEmpty()) {
                    answer();
                }
            }
            case 6 -> {
                if (!tasks.isEmpty()) {
                    tasks.poll().run();
                }
                if (!held.isEmpty()) {
                    release();
                }
            }
            default -> {
                int to = random.nextInt(ENTRIES);
                history.append("; invalidate before ").append(to);
                cache.invalidateEntries(PositionFactory.create(1, to));
            }
        }
    }

    private void add(long entry) {
        history.append("; insert ").append(entry);
        EntryImpl added = EntryImpl.create(1, entry, bytes(entry), EXPECTED);
        buffers.get(buffers.size() - 1).release();
        added.setDecreaseReadCountOnRelease(false);
        cache.insert(added);
        added.release();
    }

    private void replay() {
        Set<Position> positions = new HashSet<>();
        List<Long> wanted = new ArrayList<>();
        Set<Position> skipped = new HashSet<>();
        for (int count = 1 + random.nextInt(6); count > 0; count--) {
            long entry = random.nextInt(ENTRIES);
            Position position = PositionFactory.create(1, entry);
            if (positions.add(position)) {
                if (acknowledges && entry % ACKNOWLEDGED == 0) {
                    skipped.add(position);
                } else {
                    wanted.add(entry);
                }
            }
        }
        wanted.sort(null);
        history.append("; replay ").append(wanted).append(" and ").append(skipped.size()).append(" acknowledged");
        Reader reader = new Reader(wanted);
        readers.add(reader);
        // a failure closes the handle; it is open again for the next
        handles.put(1, CompletableFuture.completedFuture(storage()));
        try {
            if (!skipped.equals(new HashSet<>(cursor.asyncReplayEntries(positions, reader, null, true)))) {
                broken.put("skipped", 1);
            }
        } catch (RuntimeException thrown) {
            broken.put("throws " + thrown.getClass().getSimpleName(), 1);
        }
    }

    /** Answers one of the requests that storage has, any of them, not the oldest. */
    private void answer() {
        Request request = requests.remove(random.nextInt(requests.size()));
        int kind = random.nextInt(10);
        if (kind == 0) {
            boolean busy = random.nextBoolean();
            history.append(busy ? "; storage is busy for " : "; storage fails for ").append(request);
            request.answer.completeExceptionally(BKException.create(
                    busy ? BKException.Code.TooManyRequestsException : BKException.Code.ReadException));
            return;
        }
        long last = request.last;
        history.append("; storage answers ").append(request);
        List<LedgerEntry> found = new ArrayList<>();
        for (long entry = request.first; entry <= last; entry++) {
            found.add(LedgerEntryImpl.create(1, entry, 10, bytes(entry)));
        }
        request.answer.complete(LedgerEntriesImpl.create(found));
    }

    private void release() {
        Entry entry = held.remove(random.nextInt(held.size()));
        entry.release();
    }

    private ByteBuf bytes(long entry) {
        ByteBuf made = Unpooled.buffer(10);
        made.writeLong(entry).writeShort(7);
        buffers.add(made);
        return made;
    }

    /** What holds when everything has been answered and released. */
    private void look() throws Exception {
        for (Reader reader : readers) {
            if (reader.answers != (reader.wanted.isEmpty() ? 0 : 1)) {
                broken.put("answered " + (reader.answers > 1 ? "twice" : "never"), 1);
            }
        }
        cache.clear();
        if (cache.getSize() != 0 || manager.getSize() != 0) {
            broken.put("bytes", 1);
        }
        for (ByteBuf buffer : buffers) {
            if (buffer.refCnt() != 0) {
                broken.put("buffers", 1);
            }
        }
        if (limit > 0 && manager.getInflightReadsLimiter().getRemainingBytes() != limit) {
            broken.put("permits", 1);
        }
    }

    /** The released manager and one cache without a broker around them: of their neighbours only what they look at. */
    private void start() throws Exception {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe unsafe = (Unsafe) field.get(null);
        var factory = (ManagedLedgerFactoryImpl) unsafe.allocateInstance(ManagedLedgerFactoryImpl.class);
        write(factory, "config", new ManagedLedgerFactoryConfig());
        write(factory, "mbean", new ManagedLedgerFactoryMBeanImpl(factory));
        write(factory, "cacheEvictionExecutor", executor(factory, "cacheEvictionExecutor"));
        manager = new RangeEntryCacheManagerImpl(factory, null, OpenTelemetry.noop());
        limit = random.nextBoolean() ? 0 : new long[] {1_000, 30_000, 200_000}[random.nextInt(3)];
        write(manager, "inflightReadsLimiter", new InflightReadsLimiter(limit, 1_000, 0, null, OpenTelemetry.noop()));
        history.append(limit == 0 ? "no limit" : "limit " + limit);
        var ledger = (ManagedLedgerImpl) unsafe.allocateInstance(ManagedLedgerImpl.class);
        write(ledger, "name", "ledger");
        ManagedLedgerConfig untimed = new ManagedLedgerConfig();
        untimed.setReadEntryTimeoutSeconds(0);
        write(ledger, "config", untimed);
        write(ledger, "factory", factory);
        write(ledger, "ledgers", new ConcurrentSkipListMap<>());
        write(ledger, "executor", executor(ledger, "executor"));
        write(ledger, "mbean", new ManagedLedgerMBeanImpl(ledger));
        cache = (RangeEntryCacheImpl) manager.getEntryCache(ledger);
        openLedger(unsafe, ledger);
        openCursor(unsafe, ledger);
    }

    /** Ledger 1 is open for reading and not the current one. */
    private void openLedger(Unsafe unsafe, ManagedLedgerImpl ledger) throws Exception {
        write(ledger, "entryCache", cache);
        LedgerHandle current = (LedgerHandle) unsafe.allocateInstance(LedgerHandle.class);
        Field id = LedgerHandle.class.getDeclaredField("ledgerId");
        unsafe.putLong(current, unsafe.objectFieldOffset(id), 99);
        write(ledger, "currentLedger", current);
        write(ledger, "ledgerCache", handles);
        write(ledger, "lastConfirmedEntry", PositionFactory.create(1, ENTRIES));
        Field ledgers = ManagedLedgerImpl.class.getDeclaredField("ledgers");
        ledgers.setAccessible(true);
        @SuppressWarnings("unchecked")
        var infos = (Map<Long, Object>) ledgers.get(ledger);
        infos.put(1L, info());
        writeLog(ledger);
    }

    /** What is known of ledger 1: a message of Protobuf in one release, of LightProto in another. */
    private static Object info() throws Exception {
        Class<?> type = ManagedLedgerImpl.class.getMethod("getOptionalLedgerInfo", long.class).getReturnType();
        for (String name : List.of("org.apache.bookkeeper.mledger.proto.MLDataFormats$ManagedLedgerInfo$LedgerInfo",
                "org.apache.bookkeeper.mledger.proto.ManagedLedgerInfo$LedgerInfo")) {
            try {
                Class<?> message = Class.forName(name);
                try {
                    Object builder = message.getMethod("newBuilder").invoke(null);
                    builder.getClass().getMethod("setLedgerId", long.class).invoke(builder, 1L);
                    return builder.getClass().getMethod("build").invoke(builder);
                } catch (NoSuchMethodException light) {
                    Object made = message.getConstructor().newInstance();
                    message.getMethod("setLedgerId", long.class).invoke(made, 1L);
                    message.getMethod("setSize", long.class).invoke(made, 10L * ENTRIES);
                    message.getMethod("setEntries", long.class).invoke(made, (long) ENTRIES);
                    return made;
                }
            } catch (ClassNotFoundException other) {
                continue;
            }
        }
        throw new IllegalStateException("no " + type);
    }

    /** A cursor that has acknowledged every fifth entry; none in 5.0.1, whose set of them needs classes that are not there. */
    private void openCursor(Unsafe unsafe, ManagedLedgerImpl ledger) throws Exception {
        cursor = (ManagedCursorImpl) unsafe.allocateInstance(ManagedCursorImpl.class);
        write(cursor, "ledger", ledger);
        write(cursor, "name", "cursor");
        write(cursor, "lock", new ReentrantReadWriteLock());
        write(cursor, "markDeletePosition", PositionFactory.create(0, 0));
        write(cursor, "readPosition", PositionFactory.create(2, 0));
        standIn("org/apache/pulsar/common/util/collections/LongBitmap");
        Field field = ManagedCursorImpl.class.getDeclaredField("individualDeletedMessages");
        Object acknowledged = unsafe.allocateInstance(field.getType());
        acknowledges = field.getType().getSimpleName().equals("RangeSetWrapper");
        Field inner = field.getType().getDeclaredField(acknowledges ? "rangeSet" : "rangeBitmapMap");
        write(acknowledged, inner.getName(), Proxy.newProxyInstance(
                inner.getType().getClassLoader(), new Class<?>[] {inner.getType()}, (proxy, method, given) -> {
            return method.getName().equals("contains") ? (Object) ((long) given[1] % ACKNOWLEDGED == 0) : null;
        }));
        write(cursor, "individualDeletedMessages", acknowledged);
        writeLog(cursor);
    }

    /** A class of pulsar-common 5.0.1, which Maven Central does not serve: an empty one of its name is enough to load. */
    private static void standIn(String name) throws Exception {
        try {
            Class.forName(name.replace('/', '.'));
        } catch (ClassNotFoundException missing) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeInt(0xCAFEBABE);
            out.writeInt(61);
            out.writeShort(5);
            for (String one : List.of(name, "java/lang/Object")) {
                out.writeByte(1);
                out.writeUTF(one);
                out.writeByte(7);
                out.writeShort(one.equals(name) ? 1 : 3);
            }
            for (int word : new int[] {0x0421, 2, 4, 0, 0, 0, 0}) {
                out.writeShort(word);
            }
            MethodHandles.privateLookupIn(ConcurrentLongHashMap.class, MethodHandles.lookup()).defineClass(bytes.toByteArray());
        }
    }

    private static void writeLog(Object owner) throws Exception {
        Field log = owner.getClass().getDeclaredField("log");
        if (!Modifier.isStatic(log.getModifiers())) {
            write(owner, "log", log.getType().getMethod("get", Class.class).invoke(null, owner.getClass()));
        }
    }

    /** Keeps what it is given until its turn comes; what evicts runs at once. */
    private Object executor(Object owner, String name) throws Exception {
        Class<?> type = owner.getClass().getDeclaredField(name).getType();
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> {
            if (given != null && given.length == 1 && given[0] instanceof Runnable task) {
                if (name.equals("cacheEvictionExecutor")) {
                    task.run();
                } else {
                    tasks.add(() -> {
                        try {
                            task.run();
                        } catch (RuntimeException thrown) {
                            history.append("; a task throws ").append(thrown.getClass().getSimpleName());
                        }
                    });
                }
            }
            return method.getReturnType().equals(boolean.class) ? (Object) true : null;
        });
    }

    private static void write(Object owner, String name, Object value) throws Exception {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        field.set(owner, value);
    }

    private ReadHandle storage() {
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
            if (mode.equals("throwing storage") && random.nextInt(5) == 0) {
                history.append("; storage throws at ").append(given[0]).append("..").append(given[1]);
                throw new IllegalStateException("storage");
            }
            Request request = new Request((long) given[0], (long) given[1]);
            requests.add(request);
            return request.answer;
        });
    }

    private static final class Request {
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

    private final class Reader implements ReadEntriesCallback {
        private final List<Long> wanted;
        private int answers;

        private Reader(List<Long> wanted) {
            this.wanted = wanted;
        }

        @Override
        public void readEntriesComplete(List<Entry> delivered, Object context) {
            answers++;
            List<Long> found = new ArrayList<>();
            for (Entry entry : delivered) {
                held.add(entry);
                found.add(entry.getEntryId());
                if (entry.getDataBuffer().refCnt() < 1 || entry.getLength() != 10
                        || entry.getDataBuffer().getLong(entry.getDataBuffer().readerIndex()) != entry.getEntryId()) {
                    broken.put("entries: other bytes", 1);
                }
            }
            if (!found.equals(wanted)) {
                broken.put("entries: others", 1);
            }
        }

        @Override
        public void readEntriesFailed(ManagedLedgerException exception, Object context) {
            answers++;
        }
    }
}
