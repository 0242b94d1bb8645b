#!/usr/bin/env node
// An entry cache for system `pulsar-pip430`, levels `range` and `queue`.
// Written from the written protocol and rules, without sight of the suite that checks it.
// Its removal queue unlinks an entry at once, so it has no tombstones to declare.

const REFUSED = Object.freeze({ error: 'illegal-argument' });

// --- What the schema admits ---------------------------------------------------------------------

const integer = (low, high = Number.MAX_SAFE_INTEGER) => (v) => Number.isSafeInteger(v) && v >= low && v <= high;
const pair = (part) => (v) => Array.isArray(v) && v.length === 2 && v.every(part);
const oneOf = (...values) => (v) => values.includes(v);
const text = (v) => typeof v === 'string';
const INT32 = 2 ** 31 - 1;
const ANY = -Number.MAX_SAFE_INTEGER;

const ARGUMENTS = {
  cache: text, pos: pair(integer(0)), first: pair(integer(-1)), last: pair(integer(-1)), last_inclusive: oneOf(true, false),
  size: integer(ANY), bytes: integer(ANY), nanos: integer(ANY), older_than_nanos: integer(ANY),
  expected_reads: (v) => v === null || integer(-INT32, INT32)(v),
};
const OPS = {
  insert: 'cache pos size expected_reads?', get: 'cache pos', get_range: 'cache first last', exists: 'cache pos',
  remove_range: 'cache first last last_inclusive', clear: 'cache', usage: 'cache?', advance: 'nanos',
  expire: 'older_than_nanos?', evict: 'bytes', mark_read: 'cache pos', expect_read: 'cache pos', observe: '',
};
const CONFIG = {
  max_size_bytes: integer(0), ttl_nanos: integer(0), max_requeues: integer(0, INT32), extend_recently_accessed: oneOf(true, false),
  // Valid, but without effect at these two levels:
  watermark: (v) => typeof v === 'number' && v >= 0 && v <= 1, grace_millis: integer(0), storage_entry_size: integer(1),
  evict_by_expected_reads: oneOf(true, false), evict_by_mark_deleted: oneOf(true, false), eviction: oneOf('inline', 'manual'),
};
const DEFAULTS = { max_size_bytes: 134217728, ttl_nanos: 1e9, max_requeues: 5, extend_recently_accessed: true };

function validate(what, values, kinds, required = []) {
  if (Object.prototype.toString.call(values) !== '[object Object]') throw new Error(`${what}: not an object`);
  for (const key of required) if (!Object.hasOwn(values, key)) throw new Error(`${what}: ${key} is missing`);
  for (const [key, value] of Object.entries(values)) {
    if (!Object.hasOwn(kinds, key) || !kinds[key](value)) throw new Error(`${what}: bad ${key}: ${JSON.stringify(value)}`);
  }
}

function validateStep({ op, ...args }) {
  if (!text(op) || !Object.hasOwn(OPS, op)) throw new Error(`unknown op ${JSON.stringify(op)}`);
  const keys = OPS[op].split(' ').filter(Boolean);
  const kinds = keys.map((key) => key.replace('?', '')).map((key) => [key, ARGUMENTS[key]]);
  validate(op, args, Object.fromEntries(kinds), keys.filter((key) => !key.endsWith('?')));
}

// --- The cache: one method an op ----------------------------------------------------------------

const compare = (a, b) => a[0] - b[0] || a[1] - b[1];
const sizes = (entries) => entries.reduce((sum, { size }) => sum + size, 0);
const positions = (entries) => entries.map(({ pos }) => pos);
const count = (entries) => ({ entries: entries.length, bytes: sizes(entries) });

/** Index of the first of the ascending entries that is at or above `pos` (above it, if `after`). */
function indexOf(entries, pos, after = false) {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(entries[middle].pos, pos) < (after ? 1 : 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}

class EntryCaches {
  now = 0n; // a sum of steps, which may outgrow a double
  caches = new Map(); // name -> entries in ascending order
  queue = new Set(); // entries from head to tail; deleting and adding again moves one to the tail

  constructor(config) { this.config = config; }

  entriesOf(name) {
    if (!this.caches.has(name)) this.caches.set(name, []);
    return this.caches.get(name);
  }

  find({ cache, pos }) {
    const entries = this.entriesOf(cache);
    const entry = entries[indexOf(entries, pos)];
    return entry && compare(entry.pos, pos) === 0 ? entry : undefined;
  }

  insert({ cache, pos, size, expected_reads: reads }) {
    if (size < 0) return REFUSED;
    if (this.config.max_size_bytes === 0 || this.find({ cache, pos })) return { inserted: false };
    const entry = { cache, pos, size, stamp: this.now, requeues: 0, accessed: false, reads: reads > 0 ? reads : null };
    const entries = this.entriesOf(cache);
    entries.splice(indexOf(entries, pos), 0, entry);
    this.queue.add(entry);
    return { inserted: true };
  }

  get(step) {
    const entry = this.find(step);
    if (entry) entry.accessed = true;
    return { hit: entry !== undefined };
  }

  get_range({ cache, first, last }) {
    const entries = this.entriesOf(cache);
    const found = entries.slice(indexOf(entries, first), indexOf(entries, last, true));
    for (const entry of found) entry.accessed = true;
    return { hits: positions(found) };
  }

  exists(step) { return { exists: this.find(step) !== undefined }; }

  remove_range({ cache, first, last, last_inclusive: inclusive }) {
    const entries = this.entriesOf(cache);
    return count(this.take(entries, indexOf(entries, first), indexOf(entries, last, inclusive)));
  }

  clear({ cache }) { return count(this.take(this.entriesOf(cache))); }

  usage({ cache }) { return count(cache === undefined ? [...this.queue] : this.entriesOf(cache)); }

  advance({ nanos }) {
    if (nanos < 0) return REFUSED;
    this.now = BigInt.asIntN(64, this.now + BigInt(nanos));
    return {};
  }

  expire({ older_than_nanos: age = this.config.ttl_nanos }) {
    if (age < 0) return REFUSED;
    return this.pass({ cutoff: this.now - BigInt(age) });
  }

  evict({ bytes }) {
    if (bytes <= 0) return REFUSED;
    return this.pass({ target: bytes });
  }

  mark_read(step) { return this.changeCount(step, -1); }

  expect_read(step) { return this.changeCount(step, +1); }

  observe() {
    const caches = [...this.caches].filter(([, entries]) => entries.length > 0)
      .map(([name, entries]) => [name, { bytes: sizes(entries), entries: positions(entries) }]);
    const queue = Array.from(this.queue, ({ cache, pos, size, stamp, accessed, reads }) => (
      { cache, pos, size, age_nanos: this.now - stamp, accessed, expected_reads: reads }));
    return { now: this.now, bytes: sizes([...this.queue]), caches: Object.fromEntries(caches), queue };
  }

  // What the ops are made of

  /** Takes entries out of their cache and the queue; none where the range is reversed. */
  take(entries, from = 0, to = entries.length) {
    const taken = entries.splice(from, Math.max(0, to - from));
    for (const entry of taken) this.queue.delete(entry);
    return taken;
  }

  /** Works from the head until a stamp reaches the cutoff or the bytes removed reach the target. */
  pass({ cutoff = Infinity, target = Infinity }) {
    const removed = { entries: 0, bytes: 0 };
    let requeuedInARow = 0;
    for (const entry of this.queue) { // comes by again at what was moved to the tail
      if (entry.stamp >= cutoff || removed.bytes >= target) break;
      if (this.mayStay(entry)) {
        Object.assign(entry, { stamp: this.now, accessed: false, requeues: entry.requeues + 1 });
        this.queue.delete(entry);
        this.queue.add(entry);
        requeuedInARow += 1;
        if (requeuedInARow % this.queue.size === 0 && this.now < cutoff) this.skipIdleRounds();
      } else {
        const entries = this.entriesOf(entry.cache);
        const index = indexOf(entries, entry.pos);
        this.take(entries, index, index + 1);
        removed.entries += 1;
        removed.bytes += entry.size;
        requeuedInARow = 0;
      }
    }
    return removed;
  }

  mayStay({ accessed, reads, requeues }) {
    return (accessed && this.config.extend_recently_accessed) || (reads >= 1 && requeues < this.config.max_requeues);
  }

  /** After a round that removed nothing: none will until the smallest budget is spent, so spend that in one go. */
  skipIdleRounds() {
    let rounds = Infinity;
    for (const { reads, requeues } of this.queue) rounds = Math.min(rounds, reads >= 1 ? this.config.max_requeues - requeues : 0);
    if (rounds > 0) for (const entry of this.queue) entry.requeues += rounds;
  }

  changeCount(step, by) {
    const entry = this.find(step);
    if (!entry || entry.reads === null) return { expected_reads: null };
    entry.reads += by;
    return { expected_reads: entry.reads };
  }
}

// --- The protocol -------------------------------------------------------------------------------

const DESCRIPTION = {
  version: 1,
  implementation: { name: 'outside-node', version: '1.0.0', language: 'JavaScript', source: 'tests/conformance/outside/cache.mjs' },
  systems: { 'pulsar-pip430': {
    ops: Object.keys(OPS), config: Object.keys(DEFAULTS), introspection: ['now', 'bytes', 'caches', 'queue'],
  } },
};

function run({ id, system, config = {}, steps }) {
  const outcomes = [];
  try {
    if (!Object.hasOwn(DESCRIPTION.systems, system)) throw new Error(`unknown system ${system}`);
    validate('config', config, CONFIG);
    const caches = new EntryCaches({ ...DEFAULTS, ...config });
    for (const step of steps) {
      validateStep(step);
      outcomes.push(caches[step.op](step));
    }
    return { id, outcomes };
  } catch (error) {
    return { id, errored: { step: outcomes.length, message: error.message, traceback: error.stack } };
  }
}

/** Prints one answer; a 64-bit sum leaves as a plain number, which JSON.stringify cannot do by itself. */
function send(answer) {
  const line = JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  process.stdout.write(`${line.replace(/"(now|age_nanos)":"(-?\d+)"/g, '"$1":$2')}\n`);
}

// Lines are cut by hand: node's readline also cuts at U+2028, which may stand in a name.
async function* linesOf(stream) {
  let pending = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = chunk.split('\n');
    lines[0] = pending + lines[0];
    pending = lines.pop();
    yield* lines;
  }
  yield pending;
}

try {
  for await (const line of linesOf(process.stdin)) {
    if (line.trim() === '') continue;
    const request = JSON.parse(line);
    if (request.cmd === 'stop') break;
    if (request.cmd === 'start' && request.version === 1) send(DESCRIPTION);
    else if (request.cmd === 'run') send(run(request));
    else throw new Error(`not understood: ${line.slice(0, 200)}`);
  }
} catch (error) {
  console.error(`cache.mjs: ${error.message}`);
  process.exitCode = 1;
}
