"""The audit of `kafka-streams`: its parts, its rules in SQL, their replay through the reference."""
