-- R-LIMIT-2: a request is granted at once exactly if nobody waits and it fits into what is free; one above the limit fits
-- if nothing is out. With variant `limiter_order` `overtaking` a request that fits passes those who wait.

-- checked
op = 'PERMIT' and cause in ('TAKEN', 'QUEUED')

-- needs
permits of PERMIT
CONFIG.max_reads_in_flight_bytes of PERMIT TAKEN, PERMIT QUEUED

-- over permitted: granted although others wait
cause = 'TAKEN' and ticket is null and waiting_before > 0 and not overtakes

-- expected
concat('a place behind ', cast(waiting_before as string), ' who wait')

-- observed
concat(cast(permits as string), ' permits at once')

-- seqs
array(permit_before, seq)

-- sure
queue_known

-- over permitted: made to wait although it fits
cause = 'QUEUED' and (waiting_before = 0 or overtakes)
and case when permits > permits_now then out_before = 0 else permits <= permits_now - out_before end

-- expected
concat(cast(least(permits, permits_now) as string), ' permits at once: ', cast(permits_now - out_before as string), ' are free')

-- observed
'a request that waits'

-- seqs
case when permit_before is null then array(seq) else array(permit_before, seq) end

-- sure
known
