-- L-STATE-1: `bytes_after` is the running sum of the sizes of all entries. An entry leaves with the size of its INSERT.
-- END shows the sum. The manager's own bytes equal it when the cache is quiescent: at END, and with one thread also
-- when a call has ended.

-- as R-STATE-1 of pulsar-pip430
