package org.apache.bookkeeper.mledger.impl.cache;

import com.google.common.util.concurrent.ListenableScheduledFuture;
import com.google.common.util.concurrent.ListeningScheduledExecutorService;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import java.util.function.Predicate;
import org.apache.bookkeeper.common.util.OrderedExecutor;
import org.apache.bookkeeper.common.util.OrderedScheduler;

/**
 * The queues of a run's managed ledgers: one for the tasks of their executor, one for the callbacks of their metadata,
 * and one for the answers of storage. Nothing in them runs before {@link #runDry}.
 */
final class Tasks {
    private static final Field THREADS = Released.field(OrderedExecutor.class, "threads");

    /** A task at a later time, such as a timeout, never runs: the cache needs none of them. */
    private static final Object NEVER = proxy(ListenableScheduledFuture.class, (proxy, method, given) -> {
        return method.getReturnType() == boolean.class ? (Object) false : null;
    });

    final Queue<Runnable> ledger = new ArrayDeque<>();
    final Queue<Runnable> metadata = new ArrayDeque<>();
    final Queue<Runnable> answers = new ArrayDeque<>();

    /** Takes a task of the executor over, or returns false. */
    Predicate<Runnable> keeper = task -> false;

    /** Runs before each task of the executor. What it queues itself runs at once. */
    Runnable before = () -> {};

    /** True while a task of the executor runs. */
    private boolean running;

    private boolean atOnce;
    private Runnable scheduled;

    /** Runs all tasks until none is left. Storage answers only when no task is left. */
    void runDry() {
        while (!ledger.isEmpty() || !metadata.isEmpty() || !answers.isEmpty()) {
            if (!ledger.isEmpty()) {
                atOnce = true;
                before.run();
                atOnce = false;
                running = true;
                ledger.remove().run();
                running = false;
            } else {
                (metadata.isEmpty() ? answers : metadata).remove().run();
            }
        }
    }

    /** Returns a pool whose only thread is the executor; {@code type} is that of the released field. */
    OrderedExecutor pool(Class<?> type) {
        return withThread(OrderedExecutor.class, proxy(type, this::execute));
    }

    /** Returns a scheduler that forgets each task. */
    OrderedScheduler scheduler() {
        return withThread(
                OrderedScheduler.class, proxy(ListeningScheduledExecutorService.class, (proxy, method, given) -> NEVER));
    }

    /** Returns a scheduler that remembers the last task that it was given. */
    OrderedScheduler remembering() {
        return withThread(
                OrderedScheduler.class, proxy(ListeningScheduledExecutorService.class, (proxy, method, given) -> {
                    scheduled = (Runnable) given[0];
                    return NEVER;
                }));
    }

    /** Runs the remembered task, if there is one. */
    void runScheduled() {
        Runnable due = scheduled;
        scheduled = null;
        if (due != null) {
            due.run();
        }
    }

    private Object execute(Object proxy, Method method, Object[] given) {
        switch (method.getName()) {
            case "execute":
                add((Runnable) given[0]);
                return null;
            case "executeOrRun":
                if (running) {
                    ((Runnable) given[0]).run();
                } else {
                    add((Runnable) given[0]);
                }
                return null;
            case "isCurrentThread":
                return running;
            default:
                throw new entrycache.protocol.MissingPart("the adapter has no " + method);
        }
    }

    private void add(Runnable task) {
        if (atOnce) {
            task.run();
        } else if (!keeper.test(task)) {
            ledger.add(task);
        }
    }

    private static <T> T withThread(Class<T> type, Object thread) {
        T pool = Released.allocate(type);
        Released.set(THREADS, pool, new ExecutorService[] {(ExecutorService) thread});
        return pool;
    }

    private static Object proxy(Class<?> type, java.lang.reflect.InvocationHandler handler) {
        return Proxy.newProxyInstance(Tasks.class.getClassLoader(), new Class<?>[] {type}, handler);
    }
}
