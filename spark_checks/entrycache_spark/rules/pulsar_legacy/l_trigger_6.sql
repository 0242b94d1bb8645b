-- L-TRIGGER-6: a requested size pass has something to free.

-- checked
op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER'

-- needs
bound of PASS_BEGIN SIZE TRIGGER

-- over rows
op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' and bound <= 0

-- expected
'no pass'

-- observed
concat('a pass that is to free ', cast(bound as string))
