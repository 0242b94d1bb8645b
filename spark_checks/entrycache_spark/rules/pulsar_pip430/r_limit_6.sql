-- R-LIMIT-6: the requests that have waited for `acquire_timeout_millis` fail, from the head; then the rest is served, but
-- for variant `limiter_timeout` `leaves`. A real clock is read at another moment than the row's, so there a millisecond
-- less is enough.

-- checked
op = 'PERMIT' and cause = 'REFUSED'

-- needs
CONFIG.acquire_timeout_millis of PERMIT REFUSED

-- over permitted: too early, or not from the head
cause = 'REFUSED' and ticket is not null and (
  ticket <> head_before or timeout_now = 0
  or ts_ns div 1000000 - waited_ns div 1000000 < timeout_now - case when virtual then 0 else 1 end
)

-- expected
concat('ticket ', cast(head_before as string), ' after ', cast(timeout_now as string), ' ms')

-- observed
concat('ticket ', cast(ticket as string), ' after ', coalesce(cast((ts_ns - waited_ns) div 1000000 as string), 'unknown'), ' ms')

-- seqs
case when waited_seq is null then array(seq) else array(waited_seq, seq) end

-- sure
known

-- over permitted: a head that fits is left when a call ends
cause = 'REFUSED' and ticket is not null and leaves_head and not leaves_waiting

-- expected
concat('the head, which waits for ', cast(head_permits as string), ' permits, is served')

-- observed
concat(cast(permits_now - out_after as string), ' permits are free')

-- seqs
array(head_seq, seq)

-- sure
known and not many
