-- K-STORE-4: an entry that a store writes to the underlying store is forwarded afterwards, in the same call. It need not
-- be if its key was written again in the call, if it expires in the call, or after a forward that throws.

-- checked
op in ('STORE_OPEN', 'BELOW')

-- needs
life of BELOW
call_id of BELOW

-- over stored
op = 'BELOW' and whole and decided and is_open and listens = 1 and life is not null and coalesce(own_forward < seq, true)
and lasts and not gave_up and coalesce(rewritten_seq < seq, true)

-- expected
'a FORWARD of the same life and call'

-- observed
concat('a BELOW of life ', cast(life as string))

-- sure
not many
