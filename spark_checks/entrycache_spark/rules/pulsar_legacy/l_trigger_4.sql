-- L-TRIGGER-4: while a size pass is scheduled no insert changes its amount.

-- checked
op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' and manual

-- needs
CONFIG.eviction of PASS_BEGIN SIZE TRIGGER
CONFIG.max_size_bytes of INSERT
CONFIG.watermark of INSERT
bound of PASS_BEGIN SIZE TRIGGER

-- over offered
op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' and manual and whole and bound <> first_amount
and bound = last_amount

-- expected
concat('to free ', cast(first_amount as string), ', as the first insert asked')

-- observed
concat('to free ', cast(bound as string), ', as a later one would have')

-- seqs
array(first_asked, seq)

-- sure: an insert with nothing to free may have scheduled a pass that does nothing
not many and n_vague = 0
