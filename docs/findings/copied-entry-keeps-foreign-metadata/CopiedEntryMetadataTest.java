package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.IntSupplier;
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
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryMBeanImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerMBeanImpl;
import org.apache.pulsar.common.api.proto.MessageMetadata;
import sun.misc.Unsafe;

/*
 * With managedLedgerCacheCopyEntries=true the cache keeps metadata that reads its texts out of the buffer of the entry that
 * was inserted. That buffer is released; once it is used again a cached entry shows another message's producer and key.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out CopiedEntryMetadataTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.cache.CopiedEntryMetadataTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class CopiedEntryMetadataTest {
    private static final ReadHandle STORAGE = handle();
    private static RangeEntryCacheManagerImpl manager;
    private static EntryCache cache;

    public static void main(String[] arguments) throws Exception {
        ManagedLedgerFactoryConfig config = new ManagedLedgerFactoryConfig();
        config.setCopyEntriesInCache(true);
        start(config);

        readRange(0, 0, 3).entries.forEach(Entry::release);
        ByteBuf other = message("producer b");
        Entry cached = readRange(0, 0, 3).entries.get(0);
        expect("the key of a cached entry", "key of producer a", keyOf(cached));
        cached.release();
        other.release();
        System.out.println("conforms");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** The released manager and one cache without a broker around them: of their neighbours only what they look at. */
    private static void start(ManagedLedgerFactoryConfig config) throws Exception {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe unsafe = (Unsafe) field.get(null);
        ManagedLedgerFactoryImpl factory =
                (ManagedLedgerFactoryImpl) unsafe.allocateInstance(ManagedLedgerFactoryImpl.class);
        write(factory, "config", config);
        write(factory, "mbean", new ManagedLedgerFactoryMBeanImpl(factory));
        write(factory, "cacheEvictionExecutor", executor(factory, "cacheEvictionExecutor"));
        manager = new RangeEntryCacheManagerImpl(factory, null, OpenTelemetry.noop());
        ManagedLedgerImpl ledger = (ManagedLedgerImpl) unsafe.allocateInstance(ManagedLedgerImpl.class);
        write(ledger, "name", "ledger");
        write(ledger, "config", new ManagedLedgerConfig());
        write(ledger, "factory", factory);
        write(ledger, "ledgers", new ConcurrentSkipListMap<>());
        write(ledger, "executor", executor(ledger, "executor"));
        write(ledger, "mbean", new ManagedLedgerMBeanImpl(ledger));
        cache = manager.getEntryCache(ledger);
    }

    /** Runs what it is given at once, or keeps it. */
    private static Object executor(Object owner, String name) throws Exception {
        Class<?> type = owner.getClass().getDeclaredField(name).getType();
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> {
            if (given != null && given.length == 1 && given[0] instanceof Runnable task) {
                task.run();
            }
            return null;
        });
    }

    private static void write(Object owner, String name, Object value) throws Exception {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        field.set(owner, value);
    }

    private static String keyOf(Entry entry) {
        try {
            return entry.getMessageMetadata().getPartitionKey();
        } catch (RuntimeException thrown) {
            return thrown.getClass().getSimpleName();
        }
    }

    /** Later releases have an argument more: the greatest size. */
    private static Delivery readRange(long first, long last, int expectedReads) throws Exception {
        Delivery delivery = new Delivery();
        IntSupplier count = () -> expectedReads;
        for (Method method : EntryCache.class.getMethods()) {
            List<Class<?>> types = List.of(method.getParameterTypes());
            if (method.getName().equals("asyncReadEntry") && types.contains(IntSupplier.class)) {
                method.setAccessible(true);
                if (types.size() == 6) {
                    method.invoke(cache, STORAGE, first, last, count, delivery, null);
                } else {
                    method.invoke(cache, STORAGE, first, last, -1L, count, delivery, null);
                }
                return delivery;
            }
        }
        throw new IllegalStateException("no asyncReadEntry");
    }

    private static final class Delivery implements ReadEntriesCallback {
        private List<Entry> entries;

        @Override
        public void readEntriesComplete(List<Entry> delivered, Object context) {
            entries = delivered;
        }

        @Override
        public void readEntriesFailed(ManagedLedgerException exception, Object context) {
            throw new IllegalStateException(exception);
        }
    }

    /** A message as the broker stores it: the size of its metadata, its metadata, and no payload. */
    private static ByteBuf message(String producer) {
        MessageMetadata metadata = new MessageMetadata();
        metadata.setProducerName(producer).setSequenceId(1).setPublishTime(1).setPartitionKey("key of " + producer);
        ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer(256, 256);
        buffer.writeInt(metadata.getSerializedSize());
        metadata.writeTo(buffer);
        return buffer;
    }

    /** A ledger handle whose only entry is a message of producer a. */
    private static ReadHandle handle() {
        return (ReadHandle) Proxy.newProxyInstance(
                ReadHandle.class.getClassLoader(), new Class<?>[] {ReadHandle.class}, (proxy, method, given) -> {
            if (method.getName().equals("getId")) {
                return 1L;
            }
            if (!method.getReturnType().equals(CompletableFuture.class)) {
                return method.getReturnType().equals(long.class) ? (Object) 0L : null;
            }
            ByteBuf buffer = message("producer a");
            LedgerEntry entry = LedgerEntryImpl.create(1, 0, buffer.readableBytes(), buffer);
            return CompletableFuture.completedFuture((LedgerEntries) LedgerEntriesImpl.create(new ArrayList<>(List.of(entry))));
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
