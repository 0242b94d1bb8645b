-- R-LIMIT-4: a request waits at the tail of the queue; it is refused exactly if `acquire_queue` requests wait. Nothing but a
-- request that waits has a place, and what waits or is refused are all the permits that it asked for.

-- checked
op = 'PERMIT' and cause in ('QUEUED', 'REFUSED')

-- needs
CONFIG.acquire_queue of PERMIT QUEUED, PERMIT REFUSED

-- over permitted
(cause = 'QUEUED' and (waiting_before >= queue_now or tail_no <> place_before))
or (cause = 'REFUSED' and ticket is null and waiting_before < queue_now)

-- expected
case when waiting_before >= queue_now then 'a refusal' else concat('place ', cast(place_before as string)) end

-- observed
concat(cause, coalesce(concat(' at place ', cast(tail_no as string)), ''), ', ', cast(waiting_before as string), ' wait')

-- seqs
case when permit_before is null then array(seq) else array(permit_before, seq) end

-- sure
queue_known or (known and cause = 'QUEUED' and tail_no <> place_before)

-- over rows: a place without a wait, or other permits than those that were asked for
op = 'PERMIT' and ((cause <> 'QUEUED' and tail_no is not null) or (cause in ('QUEUED', 'REFUSED') and bound <> permits))

-- expected
case when cause <> 'QUEUED' and tail_no is not null then 'no place' else concat('a request for ', cast(bound as string)) end

-- observed
concat(cause, ' ', cast(permits as string), coalesce(concat(' at place ', cast(tail_no as string)), ''))
