-- S-INSERT-2: what is offered at a position that a segment holds is rejected and changes nothing.

-- checked
op = 'INSERT' or (op = 'REJECT' and cause = 'DUPLICATE')

-- needs
entry_id of INSERT ADD

-- over ringed
whole and ((op = 'INSERT' and held_before = 1) or (op = 'REJECT' and is_miswritten))

-- expected
case
  when op = 'INSERT' then concat('REJECT: life ', cast(life_before as string), ' is cached')
  else concat('offsets of ', cast(manager_shown as string), ' bytes in all')
end

-- observed
case when op = 'INSERT' then 'INSERT' else concat('manager_bytes ', cast(manager_bytes as string)) end

-- seqs
case when changed_seq is null then array(seq) else array(changed_seq, seq) end

-- sure
not many
