"""What the suite knows of `pulsar-legacy`: how its cases are made, the form of its answers, its text."""
