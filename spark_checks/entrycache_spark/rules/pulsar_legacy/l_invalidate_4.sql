-- L-INVALIDATE-4: `invalidate_ledger` leaves no entry of its ledger.

-- as R-INVALIDATE-8 of pulsar-pip430
