"""Cases, drivers and programs for the released jars."""
