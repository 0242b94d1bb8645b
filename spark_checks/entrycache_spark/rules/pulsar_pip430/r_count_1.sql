-- R-COUNT-1: a delivery lowers the count of the entry that was read by 1, even below 0, also after the entry has left.
-- A row is wrong if its count follows neither from the row before nor from all rows since the INSERT. With several
-- threads the rows may be recorded in another order: then the counts before and after must pair up within the life.

-- checked
op = 'READ_DONE' and life is not null

-- needs
ever expected_reads of READ_DONE, EXPECT

-- over counted
not many and op = 'READ_DONE' and expected_reads <> count_before - 1
and not (begun and coalesce(expected_reads = count_by_sum, false))

-- expected
concat('expected_reads ', cast(count_before - 1 as string))

-- observed
concat('expected_reads ', cast(expected_reads as string))

-- seqs
array(seq_before, seq)

-- over counted: several threads
many and begun and unbalanced and seq = last_step_seq

-- expected
concat('counts that pair up to ', cast(first_count + all_steps as string))

-- observed
concat('counts that do not, from ', cast(first_count as string))

-- seqs
array(life, seq)

-- sure
complete
