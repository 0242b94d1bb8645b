-- R-TRIGGER-8: above the trigger but not above the target no size pass runs, neither for an insert nor in the periodic
-- task. With several threads the bytes are those that the pass read: it has something to free.

-- checked
op = 'PASS_BEGIN' and cause = 'SIZE' and origin in ('TRIGGER', 'CYCLE')

-- needs
trigger_bytes or CONFIG.max_size_bytes of PASS_BEGIN SIZE TRIGGER, PASS_BEGIN SIZE CYCLE
target_bytes or CONFIG.watermark of PASS_BEGIN SIZE TRIGGER, PASS_BEGIN SIZE CYCLE

-- over rows
op = 'PASS_BEGIN' and cause = 'SIZE' and origin in ('TRIGGER', 'CYCLE')
and case
  when many then bound <= 0
  else
    coalesce(manager_bytes, bytes_after) > coalesce(trigger_bytes, trigger_now)
    and coalesce(manager_bytes, bytes_after) <= coalesce(target_bytes, target_now)
end

-- expected
concat('no size pass at or under the target ', cast(coalesce(target_bytes, target_now) as string))

-- observed
concat('a size pass at ', cast(coalesce(manager_bytes, bytes_after) as string), ' bytes')

-- sure
not gapped or (trigger_bytes is not null and target_bytes is not null)
