-- R-TRIGGER-1: trigger and target of a size pass are those of the effective CONFIG: max_size_bytes times 0.98 and times
-- `watermark`, the IEEE double products, truncated.

-- checked
op in ('PASS_BEGIN', 'PASS_END') and cause = 'SIZE' and (trigger_bytes is not null or target_bytes is not null)

-- needs
trigger_bytes or target_bytes of PASS_BEGIN SIZE, PASS_END SIZE
CONFIG.max_size_bytes of PASS_BEGIN SIZE, PASS_END SIZE

-- over rows
op in ('PASS_BEGIN', 'PASS_END') and cause = 'SIZE' and (trigger_bytes <> trigger_now or target_bytes <> target_now)

-- expected
concat('trigger ', cast(trigger_now as string), ', target ', cast(target_now as string))

-- observed
concat(
  'trigger ', coalesce(cast(trigger_bytes as string), 'unknown'), ', target ',
  coalesce(cast(target_bytes as string), 'unknown')
)

-- seqs
array(config_seq, seq)

-- sure
not gapped and (only_config or not many)
