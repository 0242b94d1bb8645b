package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.Unpooled;
import io.opentelemetry.api.OpenTelemetry;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.bookkeeper.client.LedgerHandle;
import org.apache.bookkeeper.client.api.LedgerEntry;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.client.impl.LedgerEntriesImpl;
import org.apache.bookkeeper.client.impl.LedgerEntryImpl;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntriesCallback;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.ManagedCursorImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryMBeanImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerMBeanImpl;
import org.apache.pulsar.common.util.collections.ConcurrentLongHashMap;
import sun.misc.Unsafe;

/*
 * A replay of three entries reads each by itself. There are permits for two: the third waits until the permits of the
 * first two are given back, and those are given back when the replay has been delivered.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ReplayWaitsForItselfTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.cache.ReplayWaitsForItselfTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class ReplayWaitsForItselfTest {
    private static final List<Entry> DELIVERED = new ArrayList<>();
    private static RangeEntryCacheManagerImpl manager;
    private static ManagedCursorImpl cursor;
    private static int answers;

    public static void main(String[] arguments) throws Exception {
        start(new ManagedLedgerFactoryConfig());

        cursor.asyncReplayEntries(Set.of(PositionFactory.create(1, 1), PositionFactory.create(1, 21),
                PositionFactory.create(1, 41)), new ReadEntriesCallback() {
            @Override
            public void readEntriesComplete(List<Entry> entries, Object context) {
                answers++;
                DELIVERED.addAll(entries);
            }

            @Override
            public void readEntriesFailed(ManagedLedgerException exception, Object context) {
                answers++;
            }
        }, null);
        expect("the replay is answered", 1, answers);
        expect("entries that it delivers", 3, DELIVERED.size());
        DELIVERED.forEach(Entry::release);
        System.out.println("conforms");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** The released manager, a ledger and a cursor without a broker around them; permits for two reads of one entry. */
    private static void start(ManagedLedgerFactoryConfig config) throws Exception {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe unsafe = (Unsafe) field.get(null);
        var factory = (ManagedLedgerFactoryImpl) unsafe.allocateInstance(ManagedLedgerFactoryImpl.class);
        write(factory, "config", config);
        write(factory, "mbean", new ManagedLedgerFactoryMBeanImpl(factory));
        write(factory, "cacheEvictionExecutor", executor(factory, "cacheEvictionExecutor"));
        manager = new RangeEntryCacheManagerImpl(factory, null, OpenTelemetry.noop());
        write(manager, "inflightReadsLimiter", new InflightReadsLimiter(25_000, 1_000, 0, null, OpenTelemetry.noop()));
        var ledger = (ManagedLedgerImpl) unsafe.allocateInstance(ManagedLedgerImpl.class);
        write(ledger, "name", "ledger");
        ManagedLedgerConfig untimed = new ManagedLedgerConfig();
        untimed.setReadEntryTimeoutSeconds(0);
        write(ledger, "config", untimed);
        write(ledger, "factory", factory);
        write(ledger, "ledgers", new ConcurrentSkipListMap<>());
        write(ledger, "executor", executor(ledger, "executor"));
        write(ledger, "mbean", new ManagedLedgerMBeanImpl(ledger));
        openLedger(unsafe, ledger);
        openCursor(unsafe, ledger);
    }

    /** Runs what it is given at once. */
    private static Object executor(Object owner, String name) throws Exception {
        Class<?> type = owner.getClass().getDeclaredField(name).getType();
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> {
            if (given != null && given.length == 1 && given[0] instanceof Runnable task) {
                task.run();
            }
            return method.getReturnType().equals(boolean.class) ? (Object) true : null;
        });
    }

    /** Ledger 1 is open for reading and not the current one. */
    private static void openLedger(Unsafe unsafe, ManagedLedgerImpl ledger) throws Exception {
        write(ledger, "entryCache", manager.getEntryCache(ledger));
        LedgerHandle current = (LedgerHandle) unsafe.allocateInstance(LedgerHandle.class);
        Field id = LedgerHandle.class.getDeclaredField("ledgerId");
        unsafe.putLong(current, unsafe.objectFieldOffset(id), 99);
        write(ledger, "currentLedger", current);
        ConcurrentLongHashMap<CompletableFuture<ReadHandle>> handles =
                ConcurrentLongHashMap.<CompletableFuture<ReadHandle>>newBuilder().build();
        handles.put(1, CompletableFuture.completedFuture(handle()));
        write(ledger, "ledgerCache", handles);
        write(ledger, "lastConfirmedEntry", PositionFactory.create(1, 100));
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
                    message.getMethod("setSize", long.class).invoke(made, 1_000L);
                    message.getMethod("setEntries", long.class).invoke(made, 100L);
                    return made;
                }
            } catch (ClassNotFoundException other) {
                continue;
            }
        }
        throw new IllegalStateException("no " + type);
    }

    /** A cursor that has acknowledged nothing. */
    private static void openCursor(Unsafe unsafe, ManagedLedgerImpl ledger) throws Exception {
        cursor = (ManagedCursorImpl) unsafe.allocateInstance(ManagedCursorImpl.class);
        write(cursor, "ledger", ledger);
        write(cursor, "name", "cursor");
        write(cursor, "lock", new ReentrantReadWriteLock());
        write(cursor, "markDeletePosition", PositionFactory.create(0, 0));
        write(cursor, "readPosition", PositionFactory.create(2, 0));
        standIn("org/apache/pulsar/common/util/collections/LongBitmap");
        Field field = ManagedCursorImpl.class.getDeclaredField("individualDeletedMessages");
        Object acknowledged = unsafe.allocateInstance(field.getType());
        boolean wraps = field.getType().getSimpleName().equals("RangeSetWrapper");
        Field inner = field.getType().getDeclaredField(wraps ? "rangeSet" : "rangeBitmapMap");
        write(acknowledged, inner.getName(), Proxy.newProxyInstance(
                inner.getType().getClassLoader(), new Class<?>[] {inner.getType()}, (proxy, method, given) -> {
            return method.getName().equals("contains") ? (Object) false : null;
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

    private static void write(Object owner, String name, Object value) throws Exception {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        field.set(owner, value);
    }

    /** A ledger handle that answers at once. */
    private static ReadHandle handle() {
        return (ReadHandle) Proxy.newProxyInstance(
                ReadHandle.class.getClassLoader(), new Class<?>[] {ReadHandle.class}, (proxy, method, given) -> {
            if (method.getName().equals("getId")) {
                return 1L;
            }
            if (!method.getReturnType().equals(CompletableFuture.class)) {
                return method.getReturnType().equals(long.class) ? (Object) 0L : null;
            }
            List<LedgerEntry> found = new ArrayList<>();
            for (long entry = (long) given[0]; entry <= (long) given[1]; entry++) {
                found.add(LedgerEntryImpl.create(1, entry, 10, Unpooled.wrappedBuffer(new byte[10])));
            }
            return CompletableFuture.completedFuture(LedgerEntriesImpl.create(found));
        });
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            System.out.println(what + ": expected " + expected + ", got " + got);
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }
}
