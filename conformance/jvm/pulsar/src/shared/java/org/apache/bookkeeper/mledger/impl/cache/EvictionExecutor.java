package org.apache.bookkeeper.mledger.impl.cache;

import entrycache.protocol.MissingPart;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;

/**
 * An executor for the manager's size passes. It runs each pass immediately in the calling thread, or keeps it until
 * {@link #runKept}.
 */
final class EvictionExecutor implements Executor {
    private final boolean keeps;
    private boolean waits;
    private final Queue<Runnable> kept = new ArrayDeque<>();

    EvictionExecutor(boolean keeps) {
        this.keeps = keeps;
    }

    /** Returns the executor as the type of a released field. */
    Object as(Class<?> type) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, this::call);
    }

    @Override
    public void execute(Runnable task) {
        if (keeps || waits) {
            kept.add(task);
        } else {
            task.run();
        }
    }

    /** Lets each pass wait until {@link #goOn}. */
    void pause() {
        waits = true;
    }

    /** Runs the passes that waited, unless they are kept anyway. */
    void goOn() {
        waits = false;
        if (!keeps) {
            runKept();
        }
    }

    /** Runs the kept tasks, and the tasks that they submit. */
    void runKept() {
        for (Runnable task = kept.poll(); task != null; task = kept.poll()) {
            task.run();
        }
    }

    private Object call(Object proxy, Method method, Object[] given) {
        if (!method.getName().equals("execute") && !method.getName().equals("executeOrRun")) {
            throw new MissingPart("the adapter has no " + method);
        }
        execute((Runnable) given[0]);
        return null;
    }
}
