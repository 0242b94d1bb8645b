-- S-SEGMENT-3: with references an added entry moves the offsets, whose sum is `manager_bytes`, by its size.

-- checked
op = 'INSERT' and not copies

-- needs
manager_bytes of INSERT ADD
CONFIG.mode of INSERT ADD

-- over ringed
op = 'INSERT' and not copies and whole and is_miswritten

-- expected
concat('offsets of ', cast(manager_shown + wrote as string), ' bytes in all')

-- observed
concat('manager_bytes ', cast(manager_bytes as string))

-- sure
not many
