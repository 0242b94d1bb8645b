"""The evaluators of an audit: Spark, DuckDB on one machine, and replay through the reference."""
