-- R-STATE-6: time never goes back; `ts_ns` never falls with `seq`, across gaps too.

-- checked
true

-- over ordered
ts_ns < ts_before

-- expected
concat('ts_ns at or after ', cast(ts_before as string))

-- observed
concat('ts_ns ', cast(ts_ns as string))

-- seqs
array(seen_before, seq)
