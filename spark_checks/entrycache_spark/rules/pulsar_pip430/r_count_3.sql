-- R-COUNT-3: only deliveries and expectations change a count, and an entry without a count never gets one. An entry
-- shows its last count when it leaves or in the last snapshot, and with one thread also when it is hit or requeued. A row
-- without a count contradicts no other one: the recorder may not know it. The INSERT says if there is one.

-- checked
life is not null and op in ('READ_DONE', 'EXPECT', 'EVICT', 'REMOVE', 'SNAPSHOT')

-- needs
ever expected_reads of READ_DONE, EXPECT

-- over counted
case
  when op in ('READ_DONE', 'EXPECT') then inserted and first_count is null
  when op in ('HIT', 'REQUEUE', 'EVICT', 'REMOVE', 'SNAPSHOT') and not many and seq_before is not null then
    coalesce(expected_reads <> count_before, expected_reads is not null and (inserted or count_by_sum is not null))
    and not (begun and coalesce(expected_reads = count_by_sum, false))
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

-- sure: an INSERT without a count says nothing if the recorder gives no INSERT a count
first_count is not null or counts_inserts
