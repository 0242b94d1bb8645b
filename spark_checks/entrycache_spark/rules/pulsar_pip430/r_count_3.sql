-- R-COUNT-3: only deliveries and expectations change a count, and an entry without a count never gets one. An entry
-- shows its last count when it leaves or in the last snapshot, and with one thread also when it is hit or requeued.

-- checked
life is not null and op in ('READ_DONE', 'EXPECT', 'EVICT', 'REMOVE', 'SNAPSHOT')

-- needs
ever expected_reads of READ_DONE, EXPECT

-- over counted
case
  when op in ('READ_DONE', 'EXPECT') then expected_reads is null or (seq_before is not null and count_before is null)
  when op in ('HIT', 'REQUEUE', 'EVICT', 'REMOVE', 'SNAPSHOT') then
    not many and seq_before is not null and not coalesce(expected_reads = count_before, expected_reads is null and count_before is null)
    and not (begun and coalesce(expected_reads = count_by_sum, expected_reads is null and count_by_sum is null))
  else false
end

-- expected
case
  when op in ('READ_DONE', 'EXPECT') then 'an entry with a count'
  else concat('expected_reads ', coalesce(cast(count_before as string), 'null'))
end

-- observed
concat('expected_reads ', coalesce(cast(expected_reads as string), 'null'))

-- seqs
case when seq_before is null then array(seq) else array(seq_before, seq) end
