"""The audit of `pulsar-pip430`: its parts, its rules in SQL, their replay through the reference."""
