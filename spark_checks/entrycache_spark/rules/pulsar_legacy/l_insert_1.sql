-- L-INSERT-1: what is offered at a position that the cache does not hold is added, never rejected as a duplicate, and
-- stamped with the present: not after the event, with a virtual clock exactly then; later events show that stamp.

-- as R-INSERT-1 of pulsar-pip430
