-- L-TRIGGER-1: trigger and target of a size pass are those of the effective CONFIG: max_size_bytes times 0.98 and times
-- `watermark`, the IEEE double products, truncated. A pass that an insert runs at once frees the excess over the target
-- (L-TRIGGER-5 checks a scheduled pass).

-- as R-TRIGGER-1 of pulsar-pip430

-- over rows
op = 'PASS_BEGIN' and cause = 'SIZE' and origin = 'TRIGGER' and not manual
and bound <> coalesce(manager_bytes, bytes_after) - coalesce(target_bytes, target_now)

-- expected
concat('to free ', cast(coalesce(manager_bytes, bytes_after) - coalesce(target_bytes, target_now) as string))

-- observed
concat('to free ', cast(bound as string))

-- sure
not many and (not gapped or target_bytes is not null)
