#!/usr/bin/env node
// An adapter for system `pulsar-pip430`, level `range`, with a naive cache: put calls of your own in its place.
// One JSON object a line comes on stdin, one a line is answered on stdout; logs go to stderr.
import { realpathSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const byPosition = (a, b) => a[0] - b[0] || a[1] - b[1];
const REFUSED = { error: 'illegal-argument' };

/** The cache. Entries of each cache by the text of their position. */
class Cache {
  constructor({ max_size_bytes: maxSizeBytes = 134217728 }) {
    this.disabled = maxSizeBytes === 0;
    this.caches = new Map();
  }

  entries(cache) {
    return [...(this.caches.get(cache)?.values() ?? [])].sort((a, b) => byPosition(a.pos, b.pos));
  }

  insert(cache, pos, size) {
    if (!this.caches.has(cache)) this.caches.set(cache, new Map());
    const entries = this.caches.get(cache);
    if (this.disabled || entries.has(String(pos))) return false;
    entries.set(String(pos), { pos, size });
    return true;
  }

  has(cache, pos) {
    return this.caches.get(cache)?.has(String(pos)) ?? false;
  }

  between(cache, first, last) {
    return this.entries(cache).filter(({ pos }) => byPosition(first, pos) <= 0 && byPosition(pos, last) <= 0);
  }

  remove(cache, entries) {
    for (const { pos } of entries) this.caches.get(cache).delete(String(pos));
    return count(entries);
  }
}

const count = (entries) => ({ entries: entries.length, bytes: entries.reduce((sum, { size }) => sum + size, 0) });
const positions = (entries) => entries.map(({ pos }) => pos);

/** One function an op: its arguments as they came, its outcome as it goes. */
const OPS = {
  insert: (cache, { cache: name, pos, size }) => (size < 0 ? REFUSED : { inserted: cache.insert(name, pos, size) }),
  get: (cache, { cache: name, pos }) => ({ hit: cache.has(name, pos) }),
  exists: (cache, { cache: name, pos }) => ({ exists: cache.has(name, pos) }),
  get_range: (cache, { cache: name, first, last }) => ({ hits: positions(cache.between(name, first, last)) }),
  remove_range: (cache, { cache: name, first, last, last_inclusive: inclusive }) =>
    cache.remove(name, cache.between(name, first, last).filter(({ pos }) => inclusive || byPosition(pos, last) < 0)),
  clear: (cache, { cache: name }) => cache.remove(name, cache.entries(name)),
  usage: (cache, { cache: name }) =>
    count((name === undefined ? [...cache.caches.keys()] : [name]).flatMap((each) => cache.entries(each))),
  observe: (cache) => {
    const shown = [...cache.caches.keys()].filter((name) => cache.entries(name).length > 0);
    const of = (name) => ({ bytes: count(cache.entries(name)).bytes, entries: positions(cache.entries(name)) });
    return {
      bytes: shown.reduce((sum, name) => sum + of(name).bytes, 0),
      caches: Object.fromEntries(shown.map((name) => [name, of(name)])),
    };
  },
};

export const DECLARED = {
  version: 1,
  implementation: { name: 'my-cache', version: '1', language: 'JavaScript' },
  systems: {
    'pulsar-pip430': { ops: Object.keys(OPS), config: ['max_size_bytes'], introspection: ['bytes', 'caches'] },
  },
};

/** Every run starts from an empty instance; what throws is told with the step at which it did. */
export function run({ id, config, steps }) {
  const outcomes = [];
  try {
    const cache = new Cache(config);
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
