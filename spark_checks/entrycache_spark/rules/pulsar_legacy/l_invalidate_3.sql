-- L-INVALIDATE-3: below the highest entry that `invalidate_before` removes, none is left.

-- as R-INVALIDATE-7 of pulsar-pip430
