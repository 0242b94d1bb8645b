-- R-COUNT-2: an expectation raises the count of a counted entry by 1. (With several threads R-COUNT-1 decides both.)

-- checked
op = 'EXPECT' and life is not null and not many

-- needs
ever expected_reads of READ_DONE, EXPECT

-- over counted
not many and op = 'EXPECT' and expected_reads <> count_before + 1
and not (begun and coalesce(expected_reads = count_by_sum, false))

-- expected
concat('expected_reads ', cast(count_before + 1 as string))

-- observed
concat('expected_reads ', cast(expected_reads as string))

-- seqs
array(seq_before, seq)
