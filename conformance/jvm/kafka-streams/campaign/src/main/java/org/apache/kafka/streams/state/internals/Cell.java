package org.apache.kafka.streams.state.internals;

import java.util.Map;
import java.util.TreeMap;

/**
 * One combination of the campaign's parameters: the operation that a listener performs, its place, and the cause of the
 * call.
 *
 * <p>`call` is the cause: listeners are called by flushes only, or by evictions too. `place` is the target of the
 * operations inside a call: the namespace or store that is being delivered, or another one.
 */
final class Cell {
    final String level;
    final String call;
    final String op;
    final String place;

    long worlds;
    long steps;
    final Map<String, Long> broken = new TreeMap<>();
    final Map<String, String> shortest = new TreeMap<>();
    private final Map<String, Integer> lengths = new TreeMap<>();

    Cell(String level, String call, String op, String place) {
        this.level = level;
        this.call = call;
        this.op = op;
        this.place = place;
    }

    boolean evicts() {
        return call.equals("eviction");
    }

    boolean isAtSamePlace() {
        return place.equals("same");
    }

    /** Records that a case of `length` steps broke a promise. */
    void broke(String promise, int length, String caseJson) {
        broken.merge(promise, 1L, Long::sum);
        if (length < lengths.getOrDefault(promise, Integer.MAX_VALUE)) {
            lengths.put(promise, length);
            shortest.put(promise, caseJson);
        }
    }

    String json() {
        StringBuilder out = new StringBuilder("{\"level\":\"" + level + "\",\"call\":\"" + call + "\",\"op\":\"" + op);
        out.append("\",\"place\":\"").append(place).append("\",\"worlds\":").append(worlds);
        out.append(",\"steps\":").append(steps).append(",\"broken\":{");
        String comma = "";
        for (Map.Entry<String, Long> each : broken.entrySet()) {
            out.append(comma).append('"').append(each.getKey()).append("\":{\"worlds\":").append(each.getValue());
            out.append(",\"shortest\":").append(shortest.get(each.getKey())).append('}');
            comma = ",";
        }
        return out.append("}}").toString();
    }
}
