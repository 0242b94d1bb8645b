-- L-TRIGGER-7: with `eviction` inline an offer that is not added follows its size pass too, if the bytes were above the
-- trigger (and above the target).

-- checked
(op = 'REJECT' or (op = 'SKIP' and cause = 'FULL')) and not coalesce(manual, false)

-- needs
CONFIG.eviction of REJECT, SKIP FULL
CONFIG.max_size_bytes of REJECT, SKIP FULL
CONFIG.watermark of REJECT, SKIP FULL

-- over offered
offer and op <> 'INSERT' and not manual and not own_pass and held_at_offer > trigger_now and held_at_offer > target_now

-- expected
concat('a size pass before it: above ', cast(trigger_now as string))

-- observed
concat('none at ', cast(held_at_offer as string), ' bytes')

-- seqs
array(held_at_seq, seq)

-- sure
not many and not gapped
