-- L-LIVENESS-1: a pass begins and ends, one at a time, and removes each entry at most once. A life begins with an
-- INSERT, ends once, and has no event after that.

-- checked
life is not null or op in ('PASS_BEGIN', 'PASS_END')

-- needs
life of INSERT
pass_id of PASS_BEGIN, PASS_END, EVICT

-- as R-STATE-4 of pulsar-pip430

-- as R-STATE-8 of pulsar-pip430
