package entrycache.broker;

import java.util.Map;

/** The parameters of the clients. */
record Plan(String service, String web, int topics, long messages, int bytes, long perSecond, boolean batches,
        int refusedPercent, boolean unloads, boolean deletes, long patienceSeconds) {

    static Plan of(Map<String, String> options) {
        return new Plan(
                options.get("service"),
                options.get("web"),
                (int) number(options, "topics", 3),
                number(options, "messages", 50_000),
                (int) number(options, "bytes", 1_024),
                number(options, "rate", 0),
                number(options, "batches", 0) != 0,
                (int) number(options, "refused", 0),
                number(options, "unload", 0) != 0,
                number(options, "delete", 0) != 0,
                number(options, "patience", 60));
    }

    private static long number(Map<String, String> options, String name, long otherwise) {
        return options.containsKey(name) ? Long.parseLong(options.get(name)) : otherwise;
    }

    String topic(int number) {
        return "persistent://public/default/t" + number;
    }
}
