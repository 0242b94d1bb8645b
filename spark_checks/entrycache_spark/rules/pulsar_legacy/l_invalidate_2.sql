-- L-INVALIDATE-2: `clear` leaves no entry in its cache.

-- as R-INVALIDATE-4 of pulsar-pip430
