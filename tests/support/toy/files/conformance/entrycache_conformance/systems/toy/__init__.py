"""What the suite knows of `toy`: the form of its answers, and how its cases are made."""
