-- L-EVICT-5: each of several caches removes entries for its share: the amount times its bytes divided by the sum of the
-- chosen ones, in doubles, the quotient first, the product truncated. It removes no entry more than that needs, and
-- none if its share is 0.

-- checked
op = 'PASS_BEGIN' and cause = 'SIZE' and cache is null

-- needs
size_bytes of INSERT
pass_id of EVICT SIZE
bound of PASS_BEGIN SIZE

-- over shares
gives and not alone and not gave_none and place = 'LAST' and (too_little or too_much)

-- expected
concat('the lowest entries of ', cache, ' that are ', cast(share_bytes as string), ' bytes')

-- observed
concat(cast(gave_bytes as string), ' bytes, ', cast(gave_bytes - last_bytes as string), ' before the last')

-- seqs
array(pass_id, seq)

-- sure
not many
