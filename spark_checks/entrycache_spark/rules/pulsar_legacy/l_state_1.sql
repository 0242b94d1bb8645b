-- L-STATE-1: `bytes_after` is the running sum of the sizes of all entries; an entry leaves with the size that it came with;
-- END tells the sum; and the manager's own bytes equal it at rest: at END, with one thread also when a call has ended.

-- as R-STATE-1 of pulsar-pip430
