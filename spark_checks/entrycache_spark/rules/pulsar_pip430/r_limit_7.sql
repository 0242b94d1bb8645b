-- R-LIMIT-7: what is free and what is out add up to the limit: no more is granted than is free, and no more is given back
-- than is out. What comes back was granted in one piece, to the same read if every PERMIT names its read.

-- checked
op = 'PERMIT' and cause in ('TAKEN', 'GIVEN')

-- needs
permits of PERMIT TAKEN, PERMIT GIVEN
CONFIG.max_reads_in_flight_bytes of PERMIT TAKEN, PERMIT GIVEN

-- over permitted
permits < 0 or (cause = 'TAKEN' and out_after > permits_now) or (cause = 'GIVEN' and out_after < 0)

-- expected
case
  when cause = 'TAKEN' then concat('at most ', cast(permits_now - out_before as string), ' permits, which are free')
  else concat('at most ', cast(out_before as string), ' permits, which are out')
end

-- observed
concat(cause, ' ', cast(permits as string))

-- seqs
case when permit_before is null then array(seq) else array(permit_before, seq) end

-- sure
known

-- over permitted: back, but not granted
cause = 'GIVEN' and same_before <= 0

-- expected
concat('permits that are out', coalesce(concat(' for the read of seq ', cast(read_id as string)), ''))

-- observed
concat('GIVEN ', cast(permits as string), ', but no grant of as many is out')

-- seqs
case when permit_before is null then array(seq) else array(permit_before, seq) end

-- sure
known
