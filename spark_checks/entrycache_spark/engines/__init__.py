"""The SQL engines of an audit: Spark, and DuckDB on one machine. A system's replay stands in its folder."""
