-- L-STATE-4: what is cached changes by its own events alone: a life keeps its position and size, snapshots show each entry
-- once and the last one all of them, and END tells how many there are.

-- as R-STATE-2 of pulsar-pip430
