package org.apache.kafka.streams.state.internals;

import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The threads that the JVM reports as deadlocked, described in words. */
final class Deadlock {
    private static final String PACKAGE = Deadlock.class.getPackageName();

    private final Map<Integer, String> names = new LinkedHashMap<>();

    private Deadlock() {}

    /**
     * Returns a description of the threads that wait for one another and their locks, or null if there is no deadlock.
     */
    static String found() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long[] deadlocked = threads.findDeadlockedThreads();
        if (deadlocked == null) {
            return null;
        }
        Deadlock deadlock = new Deadlock();
        List<ThreadInfo> waiting = Arrays.stream(threads.getThreadInfo(deadlocked, true, true))
                .filter(each -> each != null)
                .sorted(Comparator.comparing(ThreadInfo::getThreadName))
                .toList();
        return "deadlock: " + waiting.stream().map(deadlock::describe).collect(Collectors.joining("; "));
    }

    private String describe(ThreadInfo thread) {
        String has = Arrays.stream(thread.getLockedMonitors())
                .filter(each -> each.getClassName().startsWith(PACKAGE))
                .sorted(Comparator.comparingInt(MonitorInfo::getLockedStackDepth).reversed())
                .map(this::name)
                .distinct()
                .collect(Collectors.joining(" and "));
        String waited = thread.getLockInfo() == null ? "a lock" : name(thread.getLockInfo());
        return thread.getThreadName() + ", in " + calls(thread) + ", has " + has + " and waits for " + waited + ", which "
                + thread.getLockOwnerName() + " has";
    }

    /** Returns the released methods on the stack of the thread, the outermost first. */
    private static String calls(ThreadInfo thread) {
        List<String> calls = Arrays.stream(thread.getStackTrace())
                .filter(each -> each.getClassName().matches(".*\\.(ThreadCache|NamedCache)"))
                .map(each -> each.getClassName().substring(PACKAGE.length() + 1) + "." + each.getMethodName())
                .collect(Collectors.toList());
        Collections.reverse(calls);
        return String.join(" > ", calls);
    }

    /** Returns the lock's class and a number; locks are numbered in the order in which they are described. */
    private String name(LockInfo lock) {
        String simple = lock.getClassName().substring(lock.getClassName().lastIndexOf('.') + 1);
        return names.computeIfAbsent(lock.getIdentityHashCode(), hash -> simple + " #" + (names.size() + 1));
    }
}
