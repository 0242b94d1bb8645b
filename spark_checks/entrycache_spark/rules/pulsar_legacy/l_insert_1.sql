-- L-INSERT-1: an entry that is offered at a position the cache does not hold is added, never rejected as a duplicate.
-- It is stamped with the present time: not later than the event, with a virtual clock exactly at its time. Later events
-- show that stamp.

-- as R-INSERT-1 of pulsar-pip430
