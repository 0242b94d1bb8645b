-- R-LIMIT-5: the waiting are served from the head, in the order of their places, while the head fits into what is free. Who
-- is served, or times out, asks for what it asked for when it was queued, and nobody else has a ticket. Where each PERMIT
-- names its read, permits go back when the last entry of the read has been released, or when the read has failed.

-- checked
op = 'PERMIT' and cause in ('TAKEN', 'GIVEN')

-- needs
permits of PERMIT
CONFIG.max_reads_in_flight_bytes of PERMIT TAKEN, PERMIT GIVEN

-- over permitted: another one than the head
cause = 'TAKEN' and ticket is not null and (ticket <> head_before or waited_seq is null or waited_seq > seq)

-- expected
concat('ticket ', cast(head_before as string), ', the head')

-- observed
concat('ticket ', cast(ticket as string))

-- seqs
case when waited_seq is null then array(seq) else array(waited_seq, seq) end

-- sure
known

-- over permitted: a head that fits is left when a call ends
(cause = 'GIVEN' or (cause = 'TAKEN' and ticket is not null)) and leaves_head

-- expected
concat('the head, which waits for ', cast(head_permits as string), ' permits, is served')

-- observed
concat(cast(permits_now - out_after as string), ' permits are free')

-- seqs
array(head_seq, seq)

-- sure
queue_known and not many

-- over permitted: another request than the one that was queued
cause in ('TAKEN', 'REFUSED') and ticket is not null and waited_seq < seq
and (bound <> waited_permits or read_id <> waited_read)

-- expected
concat(cast(waited_permits as string), ' permits', coalesce(concat(' for the read of seq ', cast(waited_read as string)), ''))

-- observed
concat(cast(bound as string), ' permits', coalesce(concat(' for the read of seq ', cast(read_id as string)), ''))

-- seqs
array(waited_seq, seq)

-- sure
known

-- over rows: a ticket of a request that waits, or that gives back
op = 'PERMIT' and cause in ('QUEUED', 'GIVEN') and ticket is not null

-- expected
'no ticket'

-- observed
concat(cause, ' with ticket ', cast(ticket as string))

-- over granted: back before the last release, or not with the failure
permits_now > 0 and limit_now > 0
and ((op = 'READ_DONE' and out_now <= 0) or (op = 'READ_END' and cause = 'FAILED' and out_now > 0))

-- expected
case when op = 'READ_DONE' then 'permits until the last release' else 'all permits back' end

-- observed
concat(op, ' of the read of seq ', cast(read_id as string), ', for which ', cast(out_now as string), ' permits are out')

-- seqs
case when permit_seq is null then array(seq) else array(permit_seq, seq) end

-- sure
known and not many
