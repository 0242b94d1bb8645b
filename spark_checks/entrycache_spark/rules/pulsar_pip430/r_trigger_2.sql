-- R-TRIGGER-2: with `eviction` inline, an INSERT that leaves the bytes above the trigger (and above the target) is
-- followed at once by a size pass of origin TRIGGER, which frees the excess over the target; no other such pass runs.
-- With several threads the pass may run on another thread, and the bytes are those that it read (its `bound` and the
-- target): a size pass ends after the INSERT, and at its end no more is left above the target than came in since the
-- pass before it.

-- checked
(op = 'INSERT' or (op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER')) and not coalesce(manual, false)

-- needs
CONFIG.eviction of INSERT, PASS_BEGIN SIZE TRIGGER
ever cause of PASS_BEGIN
ever origin of PASS_BEGIN SIZE
CONFIG.max_size_bytes of INSERT
CONFIG.watermark of INSERT
trigger_bytes or CONFIG.max_size_bytes of PASS_BEGIN SIZE TRIGGER

-- over ordered: a pass without need, for another amount, or without a preceding INSERT that requests it
op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' and not manual
and (
  case
    when many then bound + coalesce(target_bytes, target_now) <= coalesce(trigger_bytes, trigger_now)
    else held <= coalesce(trigger_bytes, trigger_now)
  end
  or (not many and held > coalesce(target_bytes, target_now) and bound <> held - coalesce(target_bytes, target_now))
  or (not many and op_before is not null and op_before not in ('INSERT', 'REJECT', 'SKIP'))
)

-- expected
concat(
  'after an INSERT above ', coalesce(cast(coalesce(trigger_bytes, trigger_now) as string), 'the trigger'), ', to free ',
  coalesce(cast(greatest(held - coalesce(target_bytes, target_now), 0) as string), 'the excess over the target')
)

-- observed
concat('after ', coalesce(op_before, 'the begin'), ' at ', cast(held as string), ', to free ', coalesce(cast(bound as string), 'unknown'))

-- sure
not gapped or trigger_bytes is not null

-- over ordered: an INSERT above the trigger without its pass
op = 'INSERT' and not manual and held > trigger_now and held > target_now
and (
  (not many and op_after is not null
    and not coalesce(op_after = 'PASS_BEGIN' and cause_after = 'SIZE' and origin_after = 'TRIGGER', false))
  or (many and coalesce(last_relief_seq < seq, true))
)

-- expected
concat('a size pass of origin TRIGGER: above ', cast(trigger_now as string))

-- observed
concat('none at ', cast(held as string), ' bytes')

-- seqs
case when seq_after is null then array(seq) else array(seq, seq_after) end

-- sure
not many and not gapped

-- over ordered: with several threads, the bytes left at the end; the pass read the bytes before it began, and after the
-- pass before it ended
many and op = 'PASS_END' and cause = 'SIZE' and origin = 'TRIGGER' and not manual
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
