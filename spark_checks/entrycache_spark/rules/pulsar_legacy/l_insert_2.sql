-- L-INSERT-2: what is offered at a position that the cache holds is rejected and changes nothing.

-- as R-INSERT-2 of pulsar-pip430
