-- L-INSERT-2: an entry that is offered at a position the cache holds is rejected and changes nothing.

-- as R-INSERT-2 of pulsar-pip430
