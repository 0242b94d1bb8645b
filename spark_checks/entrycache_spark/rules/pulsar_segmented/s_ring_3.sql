-- S-RING-3: the entry for which the ring turned starts at byte 0 of its segment.

-- checked
op = 'PASS_END'

-- needs
bound of INSERT ADD

-- over ringed
op = 'INSERT' and whole and is_first and turns > 0 and bound <> 0

-- expected
'a start at byte 0'

-- observed
concat('byte ', cast(bound as string))

-- seqs
array(turn_seq, seq)

-- sure
not many
