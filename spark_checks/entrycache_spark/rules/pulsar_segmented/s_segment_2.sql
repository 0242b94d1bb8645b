-- S-SEGMENT-2: with copies an added entry moves the offsets, whose sum is `manager_bytes`, by its size rounded up to a
-- multiple of 64.

-- checked
op = 'INSERT' and copies

-- needs
manager_bytes of INSERT ADD
CONFIG.mode of INSERT ADD

-- over ringed
op = 'INSERT' and copies and whole and is_miswritten

-- expected
concat('offsets of ', cast(manager_shown + wrote as string), ' bytes in all')

-- observed
concat('manager_bytes ', cast(manager_bytes as string))

-- sure
not many
