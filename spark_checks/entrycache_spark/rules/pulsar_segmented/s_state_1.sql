-- S-STATE-1: a run begins with empty segments: no bytes, no offset, and its first entry starts at byte 0.

-- checked
op = 'CONFIG'

-- needs
bound of INSERT ADD

-- over ringed
whole and (
  (before.at is null and (bytes_after <> 0 or manager_bytes <> 0))
  or (op = 'INSERT' and insert_seq is null and turns = 0 and bound <> 0)
)

-- expected
'empty segments'

-- observed
case
  when op = 'INSERT' then concat('a start at byte ', cast(bound as string))
  else concat(cast(bytes_after as string), ' bytes, offsets of ', coalesce(cast(manager_bytes as string), '0'))
end
