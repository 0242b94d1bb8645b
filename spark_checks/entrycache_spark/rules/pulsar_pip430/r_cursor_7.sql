-- R-CURSOR-7: a fill by a cursor's read carries that cursor's rank: the number of tracked cursors of its cache at or
-- before its position, including itself, at that time. With several threads, if the fill names its call, the time is
-- the begin of that call, because a read asks once. The rule needs the trace from its first event, because a snapshot
-- shows no cursors.

-- checked
op = 'INSERT' and cause = 'FILL' and cursor is not null and ranks

-- needs
CONFIG.evict_by_expected_reads of INSERT FILL
ever expected_reads of INSERT FILL
once cursor of CURSOR_ADD

-- window: fills between two cursor events of their cache are compared at once, each one with the last event of every
-- cursor of the cache that has been a member since
with moved as (
  select
    broker, cache, cursor, seq, op, ledger_id, entry_id,
    coalesce(
      max(case when op <> 'CURSOR_MOVE' then seq * 2 + case when op = 'CURSOR_ADD' then 1 else 0 end end)
        over (partition by broker, cache, cursor order by seq rows between unbounded preceding and current row) % 2,
      0
    ) = 1 as is_member
  from events
  where op in ('CURSOR_ADD', 'CURSOR_MOVE', 'CURSOR_REMOVE') and cursor is not null
),
stays as (
  select
    *, coalesce(lead(seq) over (partition by broker, cache, cursor order by seq), 9223372036854775807) as until_seq
  from (select * from moved where is_member or op = 'CURSOR_REMOVE') as own
),
lined as (
  select
    e.broker, e.cache, e.cursor, e.seq, e.op, e.life, e.expected_reads, e.many, b.fresh and not b.gapped as known,
    coalesce(
      max(case when op <> 'INSERT' then seq end)
        over (partition by e.broker, e.cache order by question_seq, seq rows between unbounded preceding and current row),
      -1
    ) as epoch
  from (
    select *, case when op = 'INSERT' and many and call_id < seq then call_id else seq end as question_seq from events
  ) e join brokers b on e.broker = b.broker
  where e.ranks and e.cursor is not null
    and (op in ('CURSOR_ADD', 'CURSOR_MOVE', 'CURSOR_REMOVE') or (op = 'INSERT' and cause = 'FILL'))
),
questions as (
  select broker, cache, cursor, epoch from lined where op = 'INSERT' group by broker, cache, cursor, epoch
),
names as (
  select broker, cache, cursor as other from stays group by broker, cache, cursor
),
points as (
  select broker, cache, other, epoch as seq, 1 as is_question, cast(null as bigint) as ledger_id, cast(null as bigint) as entry_id
  from (select distinct a.broker, a.cache, a.epoch, n.other from questions a join names n on a.broker = n.broker and a.cache <=> n.cache) as each_one
  union all
  select
    broker, cache, cursor as other, seq, 0 as is_question,
    case when is_member then coalesce(ledger_id, -4294967296) else -4294967296 end as ledger_id,
    case when is_member then coalesce(entry_id, -4294967296) else -4294967296 end as entry_id
  from stays
),
placed as (
  select
    broker, cache, other, seq, is_question,
    last_value(ledger_id, true)
      over (partition by broker, cache, other order by seq, is_question rows between unbounded preceding and current row) as ledger_id,
    last_value(entry_id, true)
      over (partition by broker, cache, other order by seq, is_question rows between unbounded preceding and current row) as entry_id
  from points
),
standing as (
  select broker, cache, other, seq as epoch, ledger_id, entry_id
  from placed
  where is_question = 1 and ledger_id is not null and ledger_id <> -4294967296
),
ranked as (
  select
    a.broker, a.cache, a.cursor, a.epoch,
    count(case when s.ledger_id < o.ledger_id or (s.ledger_id = o.ledger_id and s.entry_id <= o.entry_id) then 1 end) as rank
  from questions a
  left join standing o on a.broker = o.broker and a.cache <=> o.cache and a.epoch = o.epoch and a.cursor = o.other
  left join standing s on a.broker = s.broker and a.cache <=> s.cache and a.epoch = s.epoch
  group by a.broker, a.cache, a.cursor, a.epoch
)
select
  l.broker, l.seq, l.life,
  concat('expected_reads ', cast(r.rank as string), ', the rank of ', l.cursor) as expected,
  concat('expected_reads ', coalesce(cast(l.expected_reads as string), 'null')) as observed,
  case when l.epoch < 0 then array(l.seq) else array(l.epoch, l.seq) end as seqs,
  l.known and not l.many as sure
from lined l join ranked r
  on l.broker = r.broker and l.cache <=> r.cache and l.cursor = r.cursor and l.epoch = r.epoch
where l.op = 'INSERT' and coalesce(l.expected_reads <> r.rank, true)
