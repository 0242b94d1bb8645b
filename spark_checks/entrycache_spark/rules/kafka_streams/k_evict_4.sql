-- K-EVICT-4: a write evicts from the namespace that it wrote while the total is above the limit and that namespace
-- holds entries. When a call that began with a PUT has ended, the total is at or under the limit, or that namespace is
-- empty, unless a FLUSH failed (cause FAILED; one without a cause may have failed). Up to the first FLUSH no other namespace loses entries; after it a
-- listener may do anything.

-- checked
op = 'PUT'

-- needs
CONFIG.max_size_bytes of PUT

-- over streamed
ends_call and whole and in_put and bytes_after > limit_now and put_live > 0 and coalesce(failed_call <> call_id, true)

-- expected
concat('at most ', cast(limit_now as string), ' bytes, or nothing in ', put_cache)

-- observed
concat(cast(bytes_after as string), ' bytes, ', cast(put_live as string), ' entries in ', put_cache)

-- seqs
array(call_id, seq)

-- sure
not many and coalesce(unnamed_call <> call_id, true)

-- over streamed: only the namespace that was written loses entries
overflows and whole and cache <> put_cache

-- expected
concat('an eviction from ', put_cache)

-- observed
concat('one from ', cache)

-- seqs
array(call_id, seq)

-- sure
not many
