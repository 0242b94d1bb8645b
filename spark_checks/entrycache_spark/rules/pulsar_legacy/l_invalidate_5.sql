-- L-INVALIDATE-5: `remove_cache` leaves no entry in its cache.

-- as R-INVALIDATE-9 of pulsar-pip430
