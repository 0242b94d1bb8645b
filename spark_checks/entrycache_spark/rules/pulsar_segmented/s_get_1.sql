-- S-GET-1: a lookup hits exactly when some segment holds the position, and finds the entry that is cached there.

-- as R-READ-1 of pulsar-pip430
