-- Each event with the state of the caching store whose namespace it names: its settings, its stream time, what it wrote
-- to the underlying store and forwarded, and what its views answered. `decided`: the rows of the event's call are all
-- there. `own`: the PUT that began the event's life. `misnamed_seq`: an event that gives the key another name or time.
-- `dropped_seq`: the last event by which the cache lost an entry that it had not handed over. `keyless_seq` and its like:
-- the first event of its op and store that does not record a value; `unrecorded` names the values of such an event.
with kept as (
  select
    e.broker, e.seq, case when op = 'FLUSH' and cause = 'FAILED' then 'FAILED' else op end as op, cause, cache, key_hash,
    e.life, coalesce(dirty, false) as dirty, call_id, pass_id, window_start, window_end,
    coalesce(window_end, window_start) as time, store_kind, value_hash, old_hash, value, many, b.fresh and e.island = b.first_island as whole, b.gapped, b.complete,
    max(call_id) over (partition by e.broker) as last_call
  from events e join brokers b on e.broker = b.broker
),
settled as (
  select
    *,
    not gapped and (complete or call_id < last_call) as decided,
    last_value(
      case when op in ('STORE_OPEN', 'STORE_CLOSE') then struct(seq as at, op as op, call_id as call_id) end, true
    ) over upto as store,
    last_value(
      case
        when op = 'STORE_OPEN' then struct(
          seq as at, store_kind as kind, counter(value, 'retention') as retention,
          counter(value, 'segment_interval') as segment_interval, counter(value, 'listens') as listens,
          counter(value, 'old_values') as old_values
        )
      end, true
    ) over upto as settings,
    max(case when op = 'VIEW' then seq end) over upto as last_view,
    max(
      case
        when op = 'FAILED' or (op = 'REMOVE' and cause = 'CLEAR') or (op = 'DELETE' and cause = 'CALL') then seq
      end
    ) over upto as dropped_seq
  from kept
  where op in (
    'PUT', 'FLUSH', 'FAILED', 'DELETE', 'REMOVE', 'CACHE_CLOSE', 'STORE_OPEN', 'STORE_CLOSE', 'BELOW', 'FORWARD', 'VIEW',
    'VIEW_ENTRY'
  )
  window upto as (partition by broker, cache order by seq rows between unbounded preceding and current row)
),
opened as (
  select
    *, settings.at as opened_seq, settings.kind as kind, settings.retention as retention, settings.listens as listens, settings.segment_interval as segment_interval,
    settings.old_values as old_values, time - time % settings.segment_interval as segment,
    coalesce(store.op = 'STORE_OPEN', false) as is_open,
    store.op = 'STORE_CLOSE' and store.call_id <> call_id and settings.at is not null as is_closed,
    store.at as store_seq
  from settled
),
timed as (
  select
    *,
    max(case when op = 'PUT' then time end)
      over (partition by broker, cache, opened_seq order by seq rows between unbounded preceding and current row) as stream_time
  from opened
),
called as (
  select
    *,
    max(stream_time) over of_call as last_time,
    max(case when op = 'FAILED' then seq end) over of_call as failed_seq,
    min(case when op = 'CACHE_CLOSE' or (op = 'REMOVE' and cause = 'CLEAR') then seq end) over of_call as emptied_seq,
    max(case when op = 'FORWARD' then seq end) over of_call as last_forward,
    max(case when op = 'PUT' and dirty then seq end)
      over (partition by broker, cache, key_hash, call_id) as rewritten_seq,
    count(case when op in ('FLUSH', 'FAILED') then seq end) over of_life as handed_rows,
    min(case when op = 'BELOW' then seq end) over of_life as first_below,
    max(case when op = 'BELOW' then seq end) over of_life as last_below,
    max(case when op = 'FORWARD' then seq end) over of_life as own_forward,
    max(
      case
        when op = 'PUT' and life = seq then struct(
          seq as at, key_hash as key_hash, cause as cause, window_start as window_start, window_end as window_end
        )
      end
    ) over (partition by broker, cache, life) as own,
    last_value(case when op = 'BELOW' then struct(seq as at, value_hash as value_hash) end, true)
      over (partition by broker, cache, life, call_id order by seq rows between unbounded preceding and 1 preceding) as written,
    last_value(
      case
        when op = 'VIEW' then struct(
          seq as at, cause as cause, counter(value, 'time_from') as time_from, counter(value, 'time_to') as time_to,
          concat('"', coalesce(text_of(value, 'from'), text_of(value, 'key')), '"') as first_key,
          concat('"', coalesce(text_of(value, 'to'), text_of(value, 'key')), '"') as last_key,
          text_of(value, 'prefix') as prefix
        )
      end, true
    ) over (partition by broker, cache, pass_id order by seq rows between unbounded preceding and 1 preceding) as view_row,
    last_value(case when op = 'VIEW_ENTRY' and value is not null then struct(seq as at, value as value) end, true)
      over past as named,
    last_value(case when op = 'VIEW_ENTRY' and value is not null then struct(seq as at, key_hash as key_hash) end, true)
      over (
        partition by broker, cache, opened_seq, value, window_start, window_end order by seq
        rows between unbounded preceding and 1 preceding
      ) as namesake,
    last_value(
      case when op = 'PUT' then struct(
        seq as at, cause as cause, life as life, window_start as window_start, window_end as window_end
      ) end, true
    ) over past as put,
    last_value(case when op = 'BELOW' then cause end, true) over past as below,
    last_value(case when op = 'FORWARD' then struct(seq as at, cause as cause, value_hash as value_hash) end, true)
      over past as forwarded,
    lag(struct(seq as at, segment as segment, value as value, time as time))
      over (partition by broker, cache, pass_id, op order by seq) as entry_before,
    min(seq) over (partition by broker, cache, pass_id, key_hash, op) as first_shown,
    min(case when key_hash is null then seq end) over of_op as keyless_seq,
    min(case when life is null then seq end) over of_op as lifeless_seq,
    min(case when cause is null then seq end) over of_op as causeless_seq,
    min(case when pass_id is null then seq end) over of_op as viewless_seq,
    min(case when value is null then seq end) over of_op as nameless_seq,
    min(case when cause in ('PUT', 'VALUE') and value_hash is null then seq end) over of_op as hashless_seq,
    min(
      case when is_open and (kind <> 'kv' and window_start is null or kind = 'session' and window_end is null) then seq end
    ) over of_op as timeless_seq
  from timed
  window
    of_op as (
      partition by broker, cache, opened_seq, op order by seq rows between unbounded preceding and current row
    ),
    of_call as (partition by broker, cache, call_id),
    of_life as (partition by broker, cache, life, call_id),
    past as (partition by broker, cache, opened_seq, key_hash order by seq rows between unbounded preceding and 1 preceding)
)
select
  *,
  concat_ws(
    ' and ',
    case when seq = keyless_seq then 'key_hash' end, case when seq = lifeless_seq then 'life' end,
    case when seq = causeless_seq then 'cause' end, case when seq = viewless_seq then 'pass_id' end,
    case when seq = nameless_seq then 'value' end, case when seq = hashless_seq then 'value_hash' end,
    case when seq = timeless_seq and window_start is null then 'window_start' end,
    case when seq = timeless_seq and kind = 'session' and window_end is null then 'window_end' end
  ) as unrecorded,
  put.at as put_seq, put.cause as put_cause, put.life as put_life, forwarded.at as forwarded_seq,
  forwarded.cause as forwarded_cause, forwarded.value_hash as forwarded_hash,
  entry_before.at as entry_seq,
  own.at as own_seq, own.cause as own_cause, own.key_hash as own_key, own.window_start as own_start, own.window_end as own_end,
  written.at as written_seq, written.value_hash as written_hash,
  life > opened_seq and own.at < seq and (
    coalesce(own.key_hash <> key_hash, false)
    or coalesce(own.window_start <> window_start, false)
    or coalesce(own.window_end <> window_end, false)
    or coalesce(own.cause in ('VALUE', 'DELETE') and cause in ('PUT', 'VALUE', 'DELETE') and (own.cause = 'DELETE') <> (cause = 'DELETE'), false)
  ) as differs,
  coalesce(cause = 'DELETE' and value_hash is not null, false) as deletes_a_value,
  (kind = 'kv' and window_start is not null) or (kind in ('kv', 'window') and window_end is not null) as is_of_another_kind,
  view_row.at as view_seq, coalesce(cause, view_row.cause) as direction,
  pass_id is not null and last_view is not null and view_row.at is null as is_of_no_view,
  coalesce(view_row.cause <> cause, false) as turns,
  coalesce(view_row.first_key > value, false) or coalesce(view_row.last_key < value, false)
    or coalesce(substr(value, 2, length(view_row.prefix)) <> view_row.prefix, false)
    or (kind <> 'kv' and coalesce(view_row.time_from > time, false))
    or (kind <> 'kv' and coalesce(view_row.time_to < window_start, false)) as is_out_of_range,
  case
    when coalesce(put.window_start <> window_start, false) or coalesce(put.window_end <> window_end, false) then put.at
    when coalesce(named.value <> value, false) then named.at
    when value is not null and coalesce(namesake.key_hash <> key_hash, false) then namesake.at
  end as misnamed_seq,
  coalesce(kind <> 'kv' and time <= stream_time - retention, false) as expired,
  coalesce(kind = 'kv' or time > last_time - retention, false) as lasts,
  coalesce(failed_seq > seq, false) or coalesce(last_forward > emptied_seq, false) as gave_up,
  coalesce(
    entry_before.segment > segment or (entry_before.segment = segment or kind = 'kv') and (
      entry_before.value > value or (entry_before.value = value and kind <> 'kv' and entry_before.time > time)
    ), false
  ) as falls,
  coalesce(
    entry_before.segment < segment or (entry_before.segment = segment or kind = 'kv') and (
      entry_before.value < value or (entry_before.value = value and kind <> 'kv' and entry_before.time < time)
    ), false
  ) as rises,
  coalesce(
    put.cause = 'DELETE' and put.at < pass_id and coalesce(dropped_seq < put.at, true), false
  ) as deleted
from called
