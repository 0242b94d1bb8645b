-- R-LEDGER-14: what is dropped because of the cursors of a managed ledger lies below the slowest active one. Where no
-- cursor is active, or one of them has no position, anything may be dropped. The rule needs the trace from its first
-- event. With `invalidation` manual it is not checked: what was due may lie above the slowest cursor of a later moment.
-- Only a managed ledger reads by cursors, so a cache without READ_BEGIN is not judged: there a call of its own may
-- name any position.

-- checked
op = 'REMOVE' and cause = 'CURSOR' and not ranks and not drops_late

-- needs
entry_id of REMOVE CURSOR
CONFIG.evict_by_expected_reads of REMOVE CURSOR
once read_id of READ_BEGIN

-- window: the removals between two cursor events of their cache are compared at once with the slowest cursor there
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
lined as (
  select
    e.broker, e.cache, e.seq, e.op, e.life, e.ledger_id, e.entry_id, e.many, b.fresh and not b.gapped as known,
    coalesce(
      max(case when op <> 'REMOVE' then seq end)
        over (partition by e.broker, e.cache order by seq rows between unbounded preceding and current row),
      -1
    ) as epoch,
    max(case when op = 'READ_BEGIN' then 1 else 0 end) over (partition by e.broker, e.cache) as is_managed
  from events e join brokers b on e.broker = b.broker
  where op in ('CURSOR_ADD', 'CURSOR_MOVE', 'CURSOR_REMOVE', 'READ_BEGIN') or (op = 'REMOVE' and cause = 'CURSOR' and not ranks and not drops_late)
),
points as (
  select distinct l.broker, l.cache, n.cursor, l.epoch as seq, 1 as is_question, false as is_member, cast(null as bigint) as ledger_id, cast(null as bigint) as entry_id
  from lined l join (select distinct broker, cache, cursor from moved) n on l.broker = n.broker and l.cache = n.cache
  where l.op = 'REMOVE'
  union all
  select broker, cache, cursor, seq, 0 as is_question, is_member, ledger_id, entry_id from moved
),
placed as (
  select
    broker, cache, cursor, seq, is_question,
    max(case when is_question = 0 then seq end)
      over (partition by broker, cache, cursor order by seq, is_question rows between unbounded preceding and current row) as moved_seq
  from points
),
standing as (
  select p.broker, p.cache, p.seq as epoch, m.ledger_id, m.entry_id
  from placed p join moved m
    on p.broker = m.broker and p.cache = m.cache and p.cursor = m.cursor and p.moved_seq = m.seq
  where p.is_question = 1 and m.is_member and m.ledger_id is not null
),
slowest as (
  select broker, cache, epoch, ledger_id, min(entry_id) as entry_id
  from (select *, min(ledger_id) over (partition by broker, cache, epoch) as lowest from standing) as own
  where ledger_id = lowest
  group by broker, cache, epoch, ledger_id
)
select
  l.broker, l.seq, l.life,
  concat('a position below ', cast(s.ledger_id as string), ':', cast(s.entry_id as string), ', the slowest cursor') as expected,
  concat('REMOVE of ', cast(l.ledger_id as string), ':', cast(l.entry_id as string)) as observed,
  array(l.epoch, l.seq) as seqs,
  l.known and not l.many as sure
from lined l join slowest s on l.broker = s.broker and l.cache = s.cache and l.epoch = s.epoch
where l.op = 'REMOVE' and l.is_managed = 1
  and (l.ledger_id > s.ledger_id or (l.ledger_id = s.ledger_id and l.entry_id >= s.entry_id))
