-- Each event of a ring with the state before it: of its position, life, segment and call. A generation is the entries
-- that one segment holds between two of its turns; its number is that of the turn that made it current (`tail_no`). The
-- values of one event are kept in a struct, so that few windows are needed.
with kept as (
  select
    e.broker, e.seq, ts_ns, op, cause, cache, ledger_id, entry_id, key_hash, e.life, size_bytes, pass_id, call_id, bound,
    trigger_bytes, bytes_after, manager_bytes, tail_no, ticket, value, many, limit_now, room_now, segments_now, copies,
    case when op = 'INSERT' then e.seq else e.life end as own_life,
    case
      when op <> 'INSERT' or size_bytes < 0 then null
      when copies then ((size_bytes + 63) div 64) * 64
      when not copies then size_bytes
    end as advance,
    cache is not null and ledger_id is not null and entry_id is not null as is_placed,
    b.fresh and e.island = b.first_island as whole
  from events e join brokers b on e.broker = b.broker
),
lined as (
  select
    *,
    lag(struct(
      seq as at, ts_ns as ts_ns, op as op, ledger_id as ledger_id, entry_id as entry_id, call_id as call_id,
      bytes_after as bytes_after
    )) over line as before,
    lead(struct(seq as at, op as op, cause as cause, call_id as call_id)) over line as after,
    coalesce(last_value(manager_bytes, true) over past, 0) as manager_shown,
    coalesce(
      last_value(
        case when manager_bytes is not null then false when op in ('INSERT', 'PASS_END') and copies is null then true end,
        true
      ) over past,
      false
    ) as has_unknown_write,
    sum(case when op = 'PASS_BEGIN' then 1 else 0 end) over upto as turns,
    last_value(
      case when op in ('PASS_BEGIN', 'PASS_END') then struct(seq as at, op as op) end,
      true
    ) over past as edge,
    max(case when op = 'PASS_BEGIN' then seq end) over past as turn_seq,
    last_value(case when op = 'PASS_BEGIN' then struct(size_bytes as size_bytes) end, true) over past as turned,
    max(case when op = 'INSERT' then seq end) over past as insert_seq,
    last_value(
      case when op = 'ASK' and cause = 'FIRST' then struct(seq as at, cache as cache, ledger_id as ledger_id, entry_id as entry_id) end,
      true
    ) over past as first_asked,
    last_value(
      case when op = 'ASK' and cause = 'LAST' then struct(seq as at, ledger_id as ledger_id, entry_id as entry_id) end, true
    ) over past as last_asked,
    last_value(case when op = 'SNAPSHOT' then life end, true) over past as life_shown,
    max(case when op = 'SNAPSHOT' then seq end) over past as shown_seq,
    sum(case when op = 'SNAPSHOT' then 1 else 0 end) over upto as n_shown,
    last_value(case when op = 'INSERT' then 1 when op = 'EVICT' then 0 end, true) over at_place as held_before,
    max(case when op = 'INSERT' then seq end) over at_place as life_before,
    max(case when op in ('INSERT', 'EVICT') then seq end) over at_place as changed_seq
  from kept
  window
    line as (partition by broker order by seq),
    past as (partition by broker order by seq rows between unbounded preceding and 1 preceding),
    upto as (partition by broker order by seq rows between unbounded preceding and current row),
    at_place as (
      partition by broker, cache, ledger_id, entry_id order by seq rows between unbounded preceding and 1 preceding
    )
),
turned as (
  select
    *,
    coalesce(last_value(case when op = 'PASS_BEGIN' then coalesce(tail_no, turns) end, true) over past, 0) as turn_before,
    coalesce(last_value(case when op = 'PASS_BEGIN' then coalesce(tail_no, turns) end, true) over upto, 0) as turn_now,
    coalesce(edge.op = 'PASS_BEGIN', false) as in_turn
  from lined
  window
    past as (partition by broker order by seq rows between unbounded preceding and 1 preceding),
    upto as (partition by broker order by seq rows between unbounded preceding and current row)
),
storied as (
  select
    *,
    last_value(
      case
        when op = 'INSERT' then struct(
          seq as at, cache as cache, ledger_id as ledger_id, entry_id as entry_id, size_bytes as size_bytes, bound as bound,
          key_hash as key_hash, coalesce(tail_no, turn_now) as generation
        )
      end, true
    ) over past as begun,
    max(case when op = 'EVICT' then seq end) over past as gone_seq,
    last_value(struct(cache as cache, ledger_id as ledger_id, entry_id as entry_id), true) over past as place_before,
    last_value(size_bytes, true) over past as size_before,
    last_value(key_hash, true) over past as key_before,
    last_value(bound, true) over past as bound_before
  from turned
  window past as (partition by broker, own_life order by seq rows between unbounded preceding and 1 preceding)
),
changed as (
  select
    *,
    op = 'EVICT' and begun.at is not null and gone_seq is null as leaves,
    case
      when op = 'INSERT' then coalesce(tail_no, turn_now)
      when op = 'EVICT' then begun.generation
      when op = 'PASS_END' then turn_now - segments_now
      when op in ('PASS_BEGIN', 'SKIP', 'REJECT') then turn_before
    end as generation,
    manager_bytes - manager_shown as shown
  from storied
),
moved as (
  select
    *,
    case when op = 'INSERT' then 1 when leaves then -1 else 0 end as entered,
    case when op = 'INSERT' then coalesce(size_bytes, 0) when leaves then - coalesce(begun.size_bytes, 0) else 0 end as grown
  from changed
),
summed as (
  select
    *,
    sum(grown) over upto as by_sum,
    sum(entered) over upto as live_in_all,
    sum(entered) over in_generation as live_in_generation,
    coalesce(sum(advance) over in_generation, 0) - coalesce(advance, 0) as generation_bytes,
    max(case when op = 'INSERT' and advance is null then 1 end) over in_generation as is_generation_unknown,
    coalesce(sum(case when op in ('INSERT', 'PASS_BEGIN', 'SKIP', 'REJECT') then shown end) over in_generation, 0) as generation_shown,
    last_value(case when op = 'INSERT' then struct(seq as at, bound + advance as by_rule, bound + shown as by_shown) end, true)
      over past as last_in
  from moved
  window
    past as (partition by broker order by seq rows between unbounded preceding and 1 preceding),
    upto as (partition by broker order by seq rows between unbounded preceding and current row),
    in_generation as (partition by broker, generation order by seq rows between unbounded preceding and current row)
),
written as (
  select
    *,
    case
      when op = 'INSERT' then advance
      when op <> 'PASS_END' then 0
      when generation is not null and is_generation_unknown is null then - generation_bytes
    end as wrote,
    sum(case when op = 'INSERT' then coalesce(advance, 0) when op = 'PASS_END' then - generation_bytes else 0 end) over (
      partition by broker order by seq rows between unbounded preceding and current row
    ) as written_sum
  from summed
)
select
  *,
  before.bytes_after + grown as by_row,
  last_in.at as last_in_seq,
  turned.size_bytes as turned_bytes,
  coalesce(insert_seq < turn_seq, insert_seq is null) as is_first,
  bound <> generation_bytes and coalesce(bound <> last_in.by_rule, true) and coalesce(bound <> last_in.by_shown, true)
    and (is_generation_unknown is null or last_in.by_rule is not null or last_in.by_shown is not null) as is_astray,
  not has_unknown_write and manager_bytes <> manager_shown + wrote and manager_bytes <> written_sum
    and (op <> 'PASS_END' or manager_bytes <> manager_shown - generation_shown) as is_miswritten,
  cache <> begun.cache and coalesce(cache <> place_before.cache, true)
    or ledger_id <> begun.ledger_id and coalesce(ledger_id <> place_before.ledger_id, true)
    or entry_id <> begun.entry_id and coalesce(entry_id <> place_before.entry_id, true) as is_displaced,
  case when segments_now is not null then cast(greatest(least(turns + 1, segments_now), 1) as bigint) end as slots_used
from written
