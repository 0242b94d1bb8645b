"""The audit of `pulsar-legacy`: its parts, its rules in SQL, their replay through the reference."""
