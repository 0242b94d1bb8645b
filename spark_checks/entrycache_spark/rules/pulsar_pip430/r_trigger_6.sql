-- R-TRIGGER-6: the periodic task runs a time pass with the present time to live. If the bytes are then still above the
-- trigger (and above the target), it runs a size pass that frees the excess over the target; otherwise it runs none.
-- With several threads the bytes are those that the pass read (its `bound` and the target).

-- checked
op = 'PASS_BEGIN' and origin = 'CYCLE'

-- needs
CONFIG.eviction of PASS_BEGIN * CYCLE
trigger_bytes or CONFIG.max_size_bytes of PASS_BEGIN SIZE CYCLE

-- over ordered: a size pass without need, or for another amount
op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'CYCLE' and manual is not null
and (
  case
    when many then bound + coalesce(target_bytes, target_now) <= coalesce(trigger_bytes, trigger_now)
    else held <= coalesce(trigger_bytes, trigger_now)
  end
  or (not many and held > coalesce(target_bytes, target_now) and bound <> held - coalesce(target_bytes, target_now))
)

-- expected
concat(
  'above ', coalesce(cast(coalesce(trigger_bytes, trigger_now) as string), 'the trigger'), ', to free ',
  coalesce(cast(greatest(held - coalesce(target_bytes, target_now), 0) as string), 'the excess over the target')
)

-- observed
concat('at ', cast(held as string), ', to free ', coalesce(cast(bound as string), 'unknown'))

-- sure
not gapped or trigger_bytes is not null

-- over ordered: a time pass with another time to live; a real clock is read before the row is written
op = 'PASS_BEGIN' and cause = 'TIME' and origin = 'CYCLE' and manual is not null
and ((virtual and bound <> ts_ns - ttl_now) or bound > ts_ns - ttl_now)

-- expected
concat('cutoff ', cast(ts_ns - ttl_now as string))

-- observed
concat('cutoff ', cast(bound as string))

-- seqs
array(config_seq, seq)

-- sure
not gapped and (only_config or not many)

-- over ordered: a time pass that ends above the trigger, and no size pass after it
not many and op = 'PASS_END' and cause = 'TIME' and origin = 'CYCLE' and manual is not null
and held > trigger_now and held > target_now
and op_after is not null
and not coalesce(op_after = 'PASS_BEGIN' and cause_after = 'SIZE' and origin_after = 'CYCLE', false)

-- expected
concat('a size pass of origin CYCLE: above ', cast(trigger_now as string))

-- observed
concat('none at ', cast(held as string), ' bytes')

-- seqs
array(seq, seq_after)

-- sure
not gapped

-- over ordered: with several threads, the bytes left at the end
many and op = 'PASS_END' and cause = 'SIZE' and origin = 'CYCLE' and manual is not null
and open_pass = pass_id and coalesce(tail_no > head_no, stamp_ns is not null)
and bytes_after > coalesce(target_bytes, target_now) + came_in - came_before + lag_at_begin

-- expected
concat('at most ', cast(coalesce(target_bytes, target_now) + came_in - came_before + lag_at_begin as string), ' bytes left')

-- observed
concat(cast(bytes_after as string), ' bytes left')

-- seqs
array(pass_id, seq)

-- sure: no row shows which bytes the pass read
false
