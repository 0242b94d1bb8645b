-- R-LIMIT-1: a read takes permits before it looks at the cache or asks storage. Where each PERMIT names its read, a HIT or an
-- ASK of a read lies behind a TAKEN of this read that was not given back. While caching is off nothing is checked.

-- checked
op = 'PERMIT' and read_id is not null

-- needs
permits of PERMIT TAKEN
CONFIG.max_reads_in_flight_bytes of PERMIT TAKEN

-- over granted
op in ('HIT', 'ASK') and out_now <= 0 and permits_now > 0 and limit_now > 0

-- expected
concat('permits before the read of seq ', cast(read_id as string), ' goes on')

-- observed
concat(op, ' of ', cast(ledger_id as string), ':', cast(entry_id as string), ', without permits')

-- seqs
case when permit_seq is null then array(seq) else array(permit_seq, seq) end

-- sure
known and not many
