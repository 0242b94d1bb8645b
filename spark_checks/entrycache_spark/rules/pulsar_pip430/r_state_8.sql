-- R-STATE-8: every life begins with an INSERT (or in the opening snapshot), ends once, and has no later event except
-- the release of entries that were read. (A dead slot may name its former life.)

-- checked
life is not null

-- needs
life of INSERT

-- window: with several threads, a reader's event may be recorded after the removal it overtook
with lives as (
  select
    broker, life,
    min(case when op = 'INSERT' or (op = 'SNAPSHOT' and cause = 'OPEN') then seq end) as begin_seq,
    min(case when op in ('EVICT', 'REMOVE') then seq end) as removed_seq,
    max(case when op not in ('READ_DONE', 'TOMBSTONE') then seq end) as last_seq,
    min(case when op <> 'TOMBSTONE' then seq end) as first_seq
  from events
  where life is not null
  group by broker, life
),
bad as (
  select l.*, l.begin_seq is null and b.starts and not b.gapped as unborn
  from lives l join brokers b on l.broker = b.broker
  where l.last_seq > l.removed_seq
    or (l.begin_seq is null and b.starts and not b.gapped and l.first_seq is not null)
    or l.first_seq < l.life
    or l.first_seq < l.begin_seq
)
select /*+ BROADCAST(l) */
  e.broker, e.seq, e.life,
  case
    when e.seq > l.removed_seq then concat('no event of this life after its removal at ', cast(l.removed_seq as string))
    else 'an INSERT that begins this life'
  end as expected,
  case when e.seq > l.removed_seq then concat(e.op, ' after it') else concat(e.op, ' before it, or without one') end
    as observed,
  case when e.seq > l.removed_seq then array(l.removed_seq, e.seq) else array(e.seq) end as seqs,
  not (e.many and e.op in ('HIT', 'EXPECT') and coalesce(e.seq > l.removed_seq, false)) as sure
from events e join bad l on e.broker = l.broker and e.life = l.life
where e.op <> 'TOMBSTONE'
  and (
    (e.seq > l.removed_seq and e.op <> 'READ_DONE')
    or (e.seq = l.first_seq and (l.unborn or e.seq < l.life or e.seq < l.begin_seq))
  )
union all
select
  broker, seq, life,
  concat('life ', cast(seq as string)) as expected,
  concat('life ', cast(life as string)) as observed,
  array(seq) as seqs,
  true as sure
from events
where op = 'INSERT' and life <> seq
