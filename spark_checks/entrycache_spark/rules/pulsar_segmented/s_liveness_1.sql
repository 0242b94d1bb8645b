-- S-LIVENESS-1: a call ends before the next one begins (with one thread), and time never goes back.

-- as R-STATE-6 of pulsar-pip430

-- over ringed: calls
not many and before.at = seq - 1 and call_id <> seq and call_id <> before.call_id

-- expected
concat('call ', cast(before.call_id as string), ', or one that begins here')

-- observed
concat('call ', cast(call_id as string))

-- seqs
array(before.at, seq)
