-- K-LIVENESS-1: a call ends before the next one begins (with one thread), and time never goes back.

-- checked
true

-- over streamed: time, across gaps too
ts_ns < ts_before

-- expected
concat('ts_ns at or after ', cast(ts_before as string))

-- observed
concat('ts_ns ', cast(ts_ns as string))

-- seqs
array(seq_before, seq)

-- over streamed: calls
not many and seq_before = seq - 1 and call_id <> seq and call_id <> call_before

-- expected
concat('call ', cast(call_before as string), ', or one that begins here')

-- observed
concat('call ', cast(call_id as string))

-- seqs
array(seq_before, seq)
