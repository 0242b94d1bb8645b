-- L-TRIGGER-5: with `eviction` manual a pass of origin TRIGGER runs only if an insert has scheduled it since the last
-- one. Its amount is the excess over the target when that insert began.

-- checked
op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' and manual

-- needs
CONFIG.eviction of PASS_BEGIN SIZE TRIGGER
CONFIG.max_size_bytes of INSERT
CONFIG.watermark of INSERT
bound of PASS_BEGIN SIZE TRIGGER

-- over offered
op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' and manual and whole
and (first_amount is null or (bound <> first_amount and bound <> last_amount))

-- expected
coalesce(concat('to free ', cast(first_amount as string)), 'no pass: none is scheduled')

-- observed
concat('to free ', coalesce(cast(bound as string), 'unknown'))

-- seqs
array(coalesce(first_asked, seq), seq)

-- sure: an insert with nothing to free may have scheduled a pass that does nothing
not many and n_vague = 0
