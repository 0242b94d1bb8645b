package org.apache.kafka.streams.state.internals;

import java.util.List;

/**
 * One operation of a case, at top level or inside a call. `name` and the names of the places are those of the protocol.
 */
record Op(String name, String place, String key, String value, boolean isDirty, long number, List<Op> inner) {
    static Op of(String name, String place) {
        return new Op(name, place, null, null, false, 0, List.of());
    }

    static Op of(String name, String place, String key) {
        return new Op(name, place, key, null, false, 0, List.of());
    }

    static Op write(String name, String place, String key, String value, boolean isDirty) {
        return new Op(name, place, key, value, isDirty, 0, List.of());
    }

    /** Returns the operation as a step of the protocol. */
    String json() {
        StringBuilder out = new StringBuilder("{\"op\":\"" + name + "\"");
        if (place != null) {
            out.append(",\"").append(ofStore() ? "store" : "ns").append("\":\"").append(place).append('"');
        }
        switch (name) {
            case "range", "store_range", "reverse_range" -> out.append(",\"from\":null,\"to\":null");
            case "resize" -> out.append(",\"max_size_bytes\":").append(number);
            case "listen" -> {
                out.append(",\"on_flush\":").append(json(inner));
                if (number > 0) {
                    out.append(",\"fails\":").append(number);
                }
            }
            case "on_forward" -> out.append(",\"key\":\"").append(key).append("\",\"steps\":").append(json(inner));
            default -> {
                if (key != null) {
                    out.append(",\"key\":\"").append(key).append('"');
                }
            }
        }
        if (name.equals("put") || name.equals("put_if_absent") || name.equals("store_put")) {
            out.append(",\"value\":").append(value == null ? "null" : "\"" + value + "\"");
        }
        if (isDirty) {
            out.append(",\"dirty\":true");
        }
        return out.append('}').toString();
    }

    static String json(List<Op> ops) {
        return "[" + String.join(",", ops.stream().map(Op::json).toList()) + "]";
    }

    private boolean ofStore() {
        return name.startsWith("store_") || name.equals("on_forward");
    }
}
