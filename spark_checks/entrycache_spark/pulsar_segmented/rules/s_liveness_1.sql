-- S-LIVENESS-1: a call ends before the next one begins (with one thread), and time never goes back.

-- checked
true

-- over ringed: time, across gaps too
ts_ns < before.ts_ns

-- expected
concat('ts_ns at or after ', cast(before.ts_ns as string))

-- observed
concat('ts_ns ', cast(ts_ns as string))

-- seqs
array(before.at, seq)

-- over ringed: calls
not many and before.at = seq - 1 and call_id <> seq and call_id <> before.call_id

-- expected
concat('call ', cast(before.call_id as string), ', or one that begins here')

-- observed
concat('call ', cast(call_id as string))

-- seqs
array(before.at, seq)
