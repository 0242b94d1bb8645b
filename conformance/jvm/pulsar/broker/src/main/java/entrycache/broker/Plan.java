package entrycache.broker;

import java.util.Map;

/** What the clients do. */
record Plan(String service, String web, int topics, long messages, int bytes, long perSecond, boolean batches,
        int refusedPercent, boolean unloads, boolean deletes, long patienceSeconds) {

    static Plan of(Map<String, String> told) {
        return new Plan(
                told.get("service"),
                told.get("web"),
                (int) number(told, "topics", 3),
                number(told, "messages", 50_000),
                (int) number(told, "bytes", 1_024),
                number(told, "rate", 0),
                number(told, "batches", 0) != 0,
                (int) number(told, "refused", 0),
                number(told, "unload", 0) != 0,
                number(told, "delete", 0) != 0,
                number(told, "patience", 60));
    }

    private static long number(Map<String, String> told, String name, long otherwise) {
        return told.containsKey(name) ? Long.parseLong(told.get(name)) : otherwise;
    }

    String topic(int number) {
        return "persistent://public/default/t" + number;
    }
}
