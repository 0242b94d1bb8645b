-- L-INVALIDATE-1: between the lowest and the highest entry that `remove_range` removes, none is left.

-- as R-INVALIDATE-1 of pulsar-pip430
