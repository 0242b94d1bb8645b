-- R-LIMIT-5: the waiting are served from the head, in the order of their places, while the head fits into what is free.

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
