#!/usr/bin/env node
// An adapter for a cache that evicts the least recently used entry, with a limit in entries. One JSON object a line
// comes on stdin, one a line is answered on stdout; logs go to stderr.
import { realpathSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A naive cache: put a cache of your own in its place. */
class LRUCache {
  constructor({ max }) {
    this.max = max;
    this.entries = new Map();
  }

  get size() {
    return this.entries.size;
  }

  get(key) {
    if (this.entries.has(key)) this.set(key, this.entries.get(key));
    return this.entries.get(key);
  }

  set(key, value) {
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.size > this.max) this.pop();
  }

  peek(key) {
    return this.entries.get(key);
  }

  delete(key) {
    return this.entries.delete(key);
  }

  clear() {
    this.entries.clear();
  }

  /** Remove the least recently used entry. */
  pop() {
    for (const key of this.entries.keys()) return this.entries.delete(key);
    return false;
  }
}

/** The runner gives every entry this size, so that a limit in bytes is one in entries. */
const ENTRY_BYTES = 47;

/** One function for each operation: its arguments, and its outcome. */
const OPS = {
  put: (cache, { key, value }) => {
    cache.set(key, value);
    return {};
  },
  put_if_absent: (cache, { key, value }) => {
    const existing = cache.get(key);
    if (existing === undefined) cache.set(key, value);
    return { present: existing !== undefined, existing: existing ?? null };
  },
  get: (cache, { key }) => {
    const value = cache.get(key);
    return { hit: value !== undefined, value: value ?? null };
  },
  delete: (cache, { key }) => {
    const value = cache.peek(key);
    return { present: cache.delete(key), value: value ?? null };
  },
  usage: (cache) => ({ entries: cache.size, bytes: cache.size * ENTRY_BYTES }),
  clear: (cache) => {
    cache.clear();
    return {};
  },
  evict: (cache) => {
    cache.pop();
    return {};
  },
};

const CARRIED = { topic: 'never', headers: 'never', timestamp: 'never', offset: 'never', partition: 'never' };

export const DECLARED = {
  version: 1,
  implementation: { name: 'my-cache', version: '1', language: 'JavaScript' },
  systems: {
    'kafka-streams': {
      ops: Object.keys(OPS),
      config: ['max_size_bytes'],
      limits: { dirty: false, namespaces: 1, entry_size: ENTRY_BYTES, zero_limit: false },
      arguments: { put: CARRIED, put_if_absent: CARRIED, get: { key: 'always' } },
    },
  },
};

/** Each run starts from an empty instance. An error is reported with the step at which it was thrown. */
export function run({ id, config, steps }) {
  const outcomes = [];
  try {
    const { max_size_bytes: maxSizeBytes = 10485760 } = config;
    const cache = new LRUCache({ max: Math.floor(maxSizeBytes / ENTRY_BYTES) });
    for (const step of steps) outcomes.push(OPS[step.op](cache, step));
    return { id, outcomes };
  } catch (error) {
    return { id, errored: { step: outcomes.length, message: String(error), traceback: String(error.stack) } };
  }
}

// Imported, as by its tests, it reads nothing.
if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    if (request.cmd === 'stop') break;
    process.stdout.write(`${JSON.stringify(request.cmd === 'start' ? DECLARED : run(request))}\n`);
  }
}
