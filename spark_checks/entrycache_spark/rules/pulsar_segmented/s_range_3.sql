-- S-RANGE-3: a range over two ledgers, or with a first bound above the last, answers nothing.

-- checked
op = 'ASK' and cause = 'LAST'

-- needs
entry_id of ASK FIRST, ASK LAST

-- over ringed
op = 'HIT' and cause = 'READ' and whole and last_asked.at > first_asked.at
and (first_asked.ledger_id <> last_asked.ledger_id or first_asked.entry_id > last_asked.entry_id)

-- expected
'no HIT: this is no range'

-- observed
concat('a HIT of life ', coalesce(cast(life as string), 'none'))

-- seqs
array(first_asked.at, seq)

-- sure
not many
