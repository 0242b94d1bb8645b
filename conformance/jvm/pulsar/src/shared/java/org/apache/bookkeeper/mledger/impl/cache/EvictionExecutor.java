package org.apache.bookkeeper.mledger.impl.cache;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;

/** What the manager hands its size passes to: run at once, in the calling thread, or kept until they are asked for. */
final class EvictionExecutor implements Executor {
    private final boolean keeps;
    private final Queue<Runnable> kept = new ArrayDeque<>();

    EvictionExecutor(boolean keeps) {
        this.keeps = keeps;
    }

    /** The executor as the type that a released field has. */
    Object as(Class<?> type) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, this::call);
    }

    @Override
    public void execute(Runnable task) {
        if (keeps) {
            kept.add(task);
        } else {
            task.run();
        }
    }

    /** Runs what is kept, and what that hands over. */
    void runKept() {
        for (Runnable task = kept.poll(); task != null; task = kept.poll()) {
            task.run();
        }
    }

    private Object call(Object proxy, Method method, Object[] given) {
        if (!method.getName().equals("execute") && !method.getName().equals("executeOrRun")) {
            throw new UnsupportedOperationException(method.toString());
        }
        execute((Runnable) given[0]);
        return null;
    }
}
