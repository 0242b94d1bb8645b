"""The commands' part of `kafka-streams`: the share of a thread, Java tests, its campaign in the JVM."""
