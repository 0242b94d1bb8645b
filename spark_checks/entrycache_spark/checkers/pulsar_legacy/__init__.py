"""The fold over a broker's events: own loops, and those of `pulsar-pip430` where a rule says what one there says."""
