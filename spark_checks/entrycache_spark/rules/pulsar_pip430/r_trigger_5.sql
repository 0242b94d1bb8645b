-- R-TRIGGER-5: with `eviction` manual a pass of origin TRIGGER runs only if an INSERT since the last one has left the
-- bytes above the trigger, and they are above it now. It frees the present excess over the target.

-- checked
op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' and manual

-- needs
CONFIG.eviction of PASS_BEGIN SIZE TRIGGER
CONFIG.max_size_bytes of INSERT
trigger_bytes or CONFIG.max_size_bytes of PASS_BEGIN SIZE TRIGGER

-- over ordered
op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' and manual
and (
  held <= coalesce(trigger_bytes, trigger_now)
  or (not many and held > coalesce(target_bytes, target_now) and bound <> held - coalesce(target_bytes, target_now))
  or (not many and whole and fresh and coalesce(request_seq < relieved_seq, request_seq is null))
)

-- expected
concat(
  'requested by an INSERT, above ', coalesce(cast(coalesce(trigger_bytes, trigger_now) as string), 'the trigger'),
  ', to free ', coalesce(cast(greatest(held - coalesce(target_bytes, target_now), 0) as string), 'the excess over the target')
)

-- observed
concat(
  'requested at ', coalesce(cast(request_seq as string), 'no seq'), ', at ', cast(held as string), ', to free ',
  coalesce(cast(bound as string), 'unknown')
)

-- sure
not gapped or trigger_bytes is not null
