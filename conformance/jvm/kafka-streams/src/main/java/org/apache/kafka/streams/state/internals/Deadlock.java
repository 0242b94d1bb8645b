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

/** Threads that wait for one another for ever, as the JVM finds them, in words. */
final class Deadlock {
    private static final String PACKAGE = Deadlock.class.getPackageName();

    private final Map<Integer, String> names = new LinkedHashMap<>();

    private Deadlock() {}

    /** Who waits for what, and who has it; null where no thread waits in a ring. */
    static String found() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long[] stuck = threads.findDeadlockedThreads();
        if (stuck == null) {
            return null;
        }
        Deadlock deadlock = new Deadlock();
        List<ThreadInfo> waiting = Arrays.stream(threads.getThreadInfo(stuck, true, true))
                .filter(each -> each != null)
                .sorted(Comparator.comparing(ThreadInfo::getThreadName))
                .toList();
        return "deadlock: " + waiting.stream().map(deadlock::told).collect(Collectors.joining("; "));
    }

    private String told(ThreadInfo thread) {
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

    /** The released methods that the thread is in, the outermost first. */
    private static String calls(ThreadInfo thread) {
        List<String> calls = Arrays.stream(thread.getStackTrace())
                .filter(each -> each.getClassName().matches(".*\\.(ThreadCache|NamedCache)"))
                .map(each -> each.getClassName().substring(PACKAGE.length() + 1) + "." + each.getMethodName())
                .collect(Collectors.toList());
        Collections.reverse(calls);
        return String.join(" > ", calls);
    }

    /** A lock by its class and a number, the first that is told of being the first. */
    private String name(LockInfo lock) {
        String simple = lock.getClassName().substring(lock.getClassName().lastIndexOf('.') + 1);
        return names.computeIfAbsent(lock.getIdentityHashCode(), hash -> simple + " #" + (names.size() + 1));
    }
}
