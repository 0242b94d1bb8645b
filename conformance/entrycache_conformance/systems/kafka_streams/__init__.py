"""What the suite knows of `kafka-streams`: the form of its answers, and how its cases are made."""
