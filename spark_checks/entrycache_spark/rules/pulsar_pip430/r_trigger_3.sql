-- R-TRIGGER-3: an entry that was not inserted triggers no pass.

-- checked
op in ('REJECT', 'SKIP') and not coalesce(manual, false) and not many

-- needs
CONFIG.eviction of REJECT, SKIP
ever cause of PASS_BEGIN
ever origin of PASS_BEGIN SIZE

-- over ordered
op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' and not manual and not many
and op_before in ('REJECT', 'SKIP')

-- expected
'no pass'

-- observed
concat('a size pass of origin TRIGGER after ', op_before)

-- seqs
array(seq_before, seq)
