-- R-TRIGGER-4: with `eviction` manual no insert runs a pass; one of origin TRIGGER is a call of its own.

-- checked
op = 'INSERT' and manual and not many

-- needs
CONFIG.eviction of INSERT
call_id of PASS_BEGIN SIZE TRIGGER
ever cause of PASS_BEGIN
ever origin of PASS_BEGIN SIZE

-- over rows
op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' and manual and not many and call_id <> seq

-- expected
'a call of its own'

-- observed
concat('a size pass within the call of ', cast(call_id as string))

-- seqs
array(call_id, seq)

-- sure
not gapped
