-- S-RANGE-1: a range over one ledger whose positions are all cached is answered; the answer ascends from the first
-- position, one by one.

-- checked
op = 'ASK' and cause = 'LAST'

-- needs
entry_id of ASK FIRST, ASK LAST
entry_id of INSERT ADD

-- over ringed: one by one
op = 'HIT' and cause = 'READ' and whole and first_asked.at is not null and (
  cache <> first_asked.cache or ledger_id <> first_asked.ledger_id
  or (before.op = 'ASK' and entry_id <> first_asked.entry_id)
  or (before.op = 'HIT' and entry_id <> before.entry_id + 1)
)

-- expected
concat('entry ', coalesce(cast(case when before.op = 'ASK' then first_asked.entry_id else before.entry_id + 1 end as string), 'unknown'))

-- observed
concat('entry ', coalesce(cast(entry_id as string), 'unknown'))

-- seqs
array(first_asked.at, seq)

-- sure
not many

-- over missed: a range that is completely cached
cached = span

-- expected
concat(cast(span as string), ' HIT rows: all of them are cached')

-- observed
'none'

-- seqs
array(first_seq, seq)

-- sure
not many
