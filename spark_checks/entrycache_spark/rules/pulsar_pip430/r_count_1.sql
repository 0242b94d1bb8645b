-- R-COUNT-1: a delivery lowers the count of the entry that was read by 1, even below 0, also after the entry has left.
-- A row is wrong if its count follows neither from the row before nor from all rows since the INSERT. With several
-- threads the rows may be recorded in another order: then the counts before and after must pair up within the life.

-- checked
op = 'READ_DONE' and life is not null

-- needs
ever expected_reads of READ_DONE, EXPECT

-- witness: counts pair up, from the INSERT to the end of the life; a delivery after that leaves it to the window
case
  when life is null then 0
  when op in ('READ_DONE', 'EXPECT') and (expected_reads is null or many) then 4294967311
  when op = 'READ_DONE' then token(life, expected_reads) - token(life, expected_reads + 1)
  when op = 'EXPECT' then token(life, expected_reads) - token(life, expected_reads - 1)
  when op = 'INSERT' or (op = 'SNAPSHOT' and cause = 'OPEN') then token(life, coalesce(expected_reads, -4294967296))
  when op in ('EVICT', 'REMOVE') or (op = 'SNAPSHOT' and cause = 'END')
    then - token(life, coalesce(expected_reads, -4294967296))
  when op = 'SNAPSHOT' then 4294967311
  else 0
end

-- unless: sums do not show the order in which counts changed
select broker
from (
  select
    broker, op, expected_reads, lag(expected_reads) over (partition by broker, life order by seq) as count_before,
    lag(seq) over (partition by broker, life order by seq) as seq_before
  from marked
  where life is not null
    and (
      op in ('INSERT', 'READ_DONE', 'EXPECT', 'EVICT', 'REMOVE') or (op = 'SNAPSHOT' and cause in ('OPEN', 'END'))
      or (op in ('HIT', 'REQUEUE') and expected_reads is not null)
    )
) as counts
where case op
  when 'READ_DONE' then expected_reads <> count_before - 1
  when 'EXPECT' then expected_reads <> count_before + 1
  when 'INSERT' then false
  else
    seq_before is not null
    and not coalesce(expected_reads = count_before, expected_reads is null and count_before is null)
end

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
