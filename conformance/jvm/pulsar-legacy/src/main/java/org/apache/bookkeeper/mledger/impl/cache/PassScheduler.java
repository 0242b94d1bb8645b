package org.apache.bookkeeper.mledger.impl.cache;

import com.google.common.util.concurrent.ListeningScheduledExecutorService;
import entrycache.protocol.MissingPart;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.concurrent.ExecutorService;
import org.apache.bookkeeper.common.util.OrderedExecutor;
import org.apache.bookkeeper.common.util.OrderedScheduler;

/**
 * A scheduler for the manager's size passes that is made without its constructor and runs tasks on the calling thread.
 *
 * <p>A pass that has nothing to free throws. Like a scheduler's own thread, this scheduler discards that exception.
 */
final class PassScheduler {
    private static final Field THREADS = Released.field(OrderedExecutor.class, "threads");

    private PassScheduler() {}

    static OrderedScheduler over(EvictionExecutor passes) {
        Class<?> type = ListeningScheduledExecutorService.class;
        Object thread = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> {
            if (!method.getName().equals("execute")) {
                throw new MissingPart("the adapter has no " + method);
            }
            passes.execute(() -> run((Runnable) given[0]));
            return null;
        });
        OrderedScheduler scheduler = Released.allocate(OrderedScheduler.class);
        Released.set(THREADS, scheduler, new ExecutorService[] {(ExecutorService) thread});
        return scheduler;
    }

    private static void run(Runnable pass) {
        try {
            pass.run();
        } catch (IllegalArgumentException e) {
            // The exception is that of Preconditions.checkArgument in EntryCacheDefaultEvictionPolicy.doEviction.
        }
    }
}
