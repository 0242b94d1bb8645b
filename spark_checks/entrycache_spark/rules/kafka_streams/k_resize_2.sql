-- K-RESIZE-2: when a call that lowered the limit has ended, the total is at or under it, unless a FLUSH failed.

-- checked
op = 'CONFIG' and limit_now < limit_before

-- needs
CONFIG.max_size_bytes of CONFIG

-- over streamed
ends_call and whole and in_shrink and bytes_after > limit_now and coalesce(failed_call <> call_id, true)

-- expected
concat('at most ', cast(limit_now as string), ' bytes')

-- observed
concat(cast(bytes_after as string), ' bytes')

-- seqs
array(call_id, seq)

-- sure
not many
