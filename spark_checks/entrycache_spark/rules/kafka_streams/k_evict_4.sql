-- K-EVICT-4: a write evicts from the namespace that it wrote while the total is above the limit and that namespace holds
-- entries. So when a call that began with a PUT has ended, the total is at or under the limit, or that namespace is
-- empty, unless a handing over failed (FLUSH, cause FAILED); and up to the first handing over (when a listener may do
-- what it likes) no other namespace is evicted from.

-- checked
op = 'PUT'

-- needs
CONFIG.max_size_bytes of PUT

-- sufficient
keys_hold and calls_hold and none_off_namespace and none_above

-- over streamed
ends_call and whole and in_put and bytes_after > limit_now and put_live > 0 and coalesce(failed_call <> call_id, true)

-- expected
concat('at most ', cast(limit_now as string), ' bytes, or nothing in ', put_cache)

-- observed
concat(cast(bytes_after as string), ' bytes, ', cast(put_live as string), ' entries in ', put_cache)

-- seqs
array(call_id, seq)

-- sure
not many

-- over streamed: only the namespace that was written pays
overflows and whole and cache <> put_cache

-- expected
concat('an eviction from ', put_cache)

-- observed
concat('one from ', cache)

-- seqs
array(call_id, seq)

-- sure
not many
