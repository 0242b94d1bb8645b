-- S-INSERT-2: an entry that is offered at a position a segment holds is rejected and changes nothing, also no offset.

-- as R-INSERT-2 of pulsar-pip430

-- checked
op = 'INSERT' or (op = 'REJECT' and cause = 'DUPLICATE')

-- over ringed
op = 'REJECT' and whole and is_miswritten

-- expected
concat('offsets of ', cast(manager_shown as string), ' bytes in all')

-- observed
concat('manager_bytes ', cast(manager_bytes as string))

-- sure
not many
