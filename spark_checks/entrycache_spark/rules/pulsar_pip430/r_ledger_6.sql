-- R-LEDGER-6: what one answer brings is inserted ascending, each entry with the same count.

-- checked
op = 'INSERT' and cause = 'FILL' and ask_id is not null

-- needs
entry_id of INSERT FILL

-- over asked
op = 'INSERT' and (expected_reads <> count_before or entry_id <= entry_before)

-- expected
concat('expected_reads ', cast(count_before as string), ', behind entry ', cast(entry_before as string))

-- observed
concat('expected_reads ', cast(expected_reads as string), ' of entry ', cast(entry_id as string))

-- seqs
array(answered_seq, seq)

-- sure
known
