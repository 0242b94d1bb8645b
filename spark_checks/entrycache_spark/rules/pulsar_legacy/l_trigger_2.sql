-- L-TRIGGER-2: with `eviction` inline an entry that arrives with the bytes above the trigger (and above the target)
-- follows one size pass of its own call. At or below the trigger there is no pass, and there is none without an offer
-- after it.

-- checked
(op = 'INSERT' or (op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER')) and not coalesce(manual, false)

-- needs
CONFIG.eviction of INSERT, PASS_BEGIN SIZE TRIGGER
call_id of INSERT, PASS_BEGIN SIZE TRIGGER
CONFIG.max_size_bytes of INSERT
CONFIG.watermark of INSERT
trigger_bytes or CONFIG.max_size_bytes of PASS_BEGIN SIZE TRIGGER

-- over offered
op = 'INSERT' and not manual and not own_pass and held_at_offer > trigger_now and held_at_offer > target_now

-- expected
concat('a size pass before it: above ', cast(trigger_now as string))

-- observed
concat('none at ', cast(held_at_offer as string), ' bytes')

-- seqs
array(held_at_seq, seq)

-- sure
not many and not gapped

-- over offered
op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' and not manual
and held <= coalesce(trigger_bytes, trigger_now)

-- expected
concat('no pass at or under ', cast(coalesce(trigger_bytes, trigger_now) as string))

-- observed
concat('a size pass at ', cast(held as string), ' bytes')

-- sure
not many and (not gapped or trigger_bytes is not null)

-- over offered
op = 'PASS_END' and cause = 'SIZE' and origin = 'TRIGGER' and not manual and op_after is not null and not offer_follows

-- expected
'the offer that requested it'

-- observed
op_after

-- sure
not many
