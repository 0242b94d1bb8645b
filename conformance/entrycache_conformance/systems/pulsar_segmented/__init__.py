"""What the suite knows of `pulsar-segmented`: the form of its answers, and how its cases are made."""
