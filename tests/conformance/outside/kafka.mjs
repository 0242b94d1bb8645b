// A record cache and its caching stores for system `kafka-streams`, levels `cache` and `store`.
// Written from the written protocol and rules, without sight of the suite that checks it. Maps keep the order of use.
import { createInterface } from 'node:readline'

const utf8 = (text) => Buffer.byteLength(text ?? '')
const byBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))

const isInside = (key, from, to, toInclusive) =>
  (from === null || byBytes(from, key) <= 0) && (to === null || byBytes(key, to) < (toInclusive ? 1 : 0))
const listed = (entries) => ({ entries: entries.sort(([a], [b]) => byBytes(a, b)) })

class Failure extends Error {}
const fail = (kind) => { throw new Failure(kind) }

let writes = 0

const made = ({ value, dirty = false, topic = '', headers = [], timestamp, offset, partition }, key) => {
  const given = Object.entries({ timestamp, offset, partition }).filter(([, number]) => number !== undefined)
  const context = Object.fromEntries(given)
  const size = utf8(key) + utf8(value) + 45 + topic.length + headers.reduce((n, [k, v]) => n + k.length + utf8(v), 0)
  return { value, dirty, size, context, write: ++writes }
}

const shown = ([key, { value, context }]) => (Object.keys(context).length ? [key, value, context] : [key, value])

class Space {
  entries = new Map() // from eldest to most recent
  dirty = new Set()
  counts = { hits: 0, misses: 0, overwrites: 0, flushes: 0 }
  get bytes() { return [...this.entries.values()].reduce((n, e) => n + e.size, 0) }
  store(key, entry) { this.entries.delete(key); this.entries.set(key, entry) }
  drop(key) { this.entries.delete(key); this.dirty.delete(key) }
  look(key) {
    const entry = this.entries.get(key)
    this.counts[entry ? 'hits' : 'misses']++
    if (entry) this.store(key, entry)
    return entry
  }
}

class Cache {
  spaces = new Map()
  stores = new Map()
  counts = { puts: 0, gets: 0, evicts: 0, flushes: 0 }
  constructor({ max_size_bytes = 10485760, reentry_budget = 8 } = {}) {
    this.limit = max_size_bytes
    this.budget = reentry_budget
  }
  get bytes() { return [...this.spaces.values()].reduce((n, s) => n + s.bytes, 0) }
  open(ns) { if (!this.spaces.has(ns)) this.spaces.set(ns, new Space()); return this.spaces.get(ns) }

  play(step) {
    Object.assign(this, { flushed: [], forwarded: [], calls: 0 })
    const answer = this.inner(step)
    if (this.flushed.length) answer.flushed = this.flushed
    if (this.forwarded.length) answer.forwarded = this.forwarded
    return answer
  }
  inner(step) {
    try { return this[step.op](step) ?? {} } catch (failure) {
      if (!(failure instanceof Failure)) throw failure
      return { error: failure.message }
    }
  }

  // A call is recorded, and counted against the budget, where it begins.
  call(list, told) {
    const call = { ...told, inner: [] }
    list.push(call)
    return { ...call, performs: ++this.calls <= this.budget }
  }
  perform({ inner, performs }, steps) { if (performs) for (const step of steps) inner.push(this.inner(step)) }
  handOver(ns, space, evicted) {
    space.counts.flushes++
    if (!space.listener) fail('illegal-argument')
    const keys = [...space.dirty].filter((key) => key !== evicted)
    space.counts.hits += keys.length
    if (evicted !== undefined) keys.unshift(evicted)
    if (!keys.length) return
    const { listener } = space
    const entries = keys.map((key) => [key, space.entries.get(key)])
    const call = listener.store ? undefined : this.call(this.flushed, { ns, entries: entries.map(shown) })
    if (listener.fails > 0) { listener.fails--; fail('listener-failed') }
    for (const [, entry] of entries) entry.dirty = false
    space.dirty.clear()
    if (evicted !== undefined) space.drop(evicted)
    if (call) this.perform(call, listener.on_flush)
    else this.forward(listener.store, entries)
    for (const [key, entry] of entries) if (entry.value === null && space.entries.get(key) === entry) space.drop(key)
  }
  evictEldest(ns, space) {
    const [eldest] = space.entries
    if (!eldest) return
    if (eldest[1].dirty) this.handOver(ns, space, eldest[0])
    else space.drop(eldest[0])
  }
  overflow(ns) {
    for (let space; this.bytes > this.limit && (space = this.spaces.get(ns))?.entries.size;) {
      this.evictEldest(ns, space)
      this.counts.evicts++
    }
  }
  write(space, step) {
    const { key, dirty } = step
    if (space.entries.has(key)) space.counts.overwrites++
    space.store(key, made(step, key))
    if (dirty) { space.dirty.delete(key); space.dirty.add(key) }
  }

  put(step) {
    const { ns, key, dirty } = step
    this.counts.puts++
    const space = this.open(ns)
    if (!dirty && space.dirty.has(key)) fail('illegal-state')
    this.write(space, step)
    this.overflow(ns)
  }
  put_all({ ns, entries }) { for (const entry of entries) this.put({ ...entry, ns }) }
  put_if_absent(step) {
    const space = this.open(step.ns)
    const found = space.look(step.key)
    if (!found) this.write(space, step)
    this.overflow(step.ns)
    if (!found) this.counts.puts++
    return { present: Boolean(found), existing: found ? found.value : null }
  }
  get({ ns, key }) {
    this.counts.gets++
    const found = key === null ? undefined : this.spaces.get(ns)?.look(key)
    return { hit: Boolean(found), value: found ? found.value : null }
  }
  delete({ ns, key }) {
    const space = this.spaces.get(ns)
    const found = space?.entries.get(key)
    space?.drop(key)
    return { present: Boolean(found), value: found ? found.value : null }
  }
  lookup({ ns, from = null, to = null, to_inclusive = true }, turn) {
    const space = this.spaces.get(ns)
    if (!space) return { entries: [] }
    const keys = [...space.entries.keys()].filter((key) => isInside(key, from, to, to_inclusive)).sort(byBytes)
    return { entries: turn(keys).map((key) => [key, space.look(key).value]) }
  }
  range(step) { return this.lookup(step, (keys) => keys) }
  all(step) { return this.range(step) }
  reverse_range(step) { return this.lookup(step, (keys) => keys.reverse()) }
  reverse_all(step) { return this.reverse_range(step) }
  listen({ ns, on_flush = [], fails = 0 }) { this.open(ns).listener = { on_flush, fails } }
  flush({ ns }) { this.counts.flushes++; if (this.spaces.has(ns)) this.handOver(ns, this.spaces.get(ns)) }
  evict({ ns }) { if (this.spaces.has(ns)) this.evictEldest(ns, this.spaces.get(ns)) }
  clear({ ns }) { const space = this.spaces.get(ns); space?.entries.clear(); space?.dirty.clear() }
  close({ ns }) { this.spaces.delete(ns) }
  resize({ max_size_bytes }) {
    const shrinks = max_size_bytes < this.limit
    this.limit = max_size_bytes
    while (shrinks && this.bytes > this.limit) {
      for (const [ns, space] of [...this.spaces]) {
        if (this.bytes <= this.limit) break
        this.evictEldest(ns, space)
        this.counts.evicts++
      }
    }
  }
  usage({ ns }) {
    const spaces = ns === undefined ? [...this.spaces.values()] : [this.spaces.get(ns) ?? new Space()]
    return { entries: spaces.reduce((n, s) => n + s.entries.size, 0), bytes: spaces.reduce((n, s) => n + s.bytes, 0) }
  }
  metrics({ ns }) {
    if (ns === undefined) return { ...this.counts }
    const space = this.spaces.get(ns) ?? new Space()
    return { ...space.counts, dirty: [...space.dirty], lru: [...space.entries.keys()].reverse() }
  }

  store(name) {
    if (!this.stores.has(name)) {
      this.stores.set(name, { name, below: new Map(), steps: new Map(), passed: new Map() })
      this.open(name).listener = { store: this.stores.get(name) }
    }
    return this.stores.get(name)
  }
  // All of it lies below before anybody downstream is called.
  forward({ name, below, steps, passed }, entries) {
    const known = entries.filter(([key, { value }]) => value !== null || below.has(key))
    for (const [key, { value }] of known) if (value === null) below.delete(key); else below.set(key, value)
    for (const [key, { value, write }] of known) {
      if (passed.get(key) > write) continue
      passed.set(key, write)
      this.perform(this.call(this.forwarded, { store: name, key, value }), steps.get(key) ?? [])
    }
  }
  sought({ store, key }) {
    const { below } = this.store(store)
    const { hit, value } = this.get({ ns: store, key })
    return { hit, value: hit ? value : below.get(key) ?? null }
  }
  store_get({ store, key }) {
    const { hit, value } = this.sought({ store, key })
    if (!hit && value !== null) this.put({ ns: store, key, value })
    return { value }
  }
  store_put({ store, key, value }) { this.store(store); this.put({ ns: store, key, value, dirty: true }) }
  store_delete({ store, key }) {
    const { value } = this.sought({ store, key })
    this.store_put({ store, key, value: null })
    return { value }
  }
  store_range({ store, from = null, to = null }) {
    const { below } = this.store(store)
    const merged = new Map([...below].filter(([key]) => isInside(key, from, to, true)))
    for (const [key, value] of this.range({ ns: store, from, to }).entries) merged.set(key, value)
    return listed([...merged].filter(([, value]) => value !== null))
  }
  store_all({ store }) { return this.store_range({ store }) }
  store_flush({ store }) { this.store(store); this.flush({ ns: store }) }
  store_inner({ store }) { return listed([...this.store(store).below]) }
  on_forward({ store, key, steps }) { this.store(store).steps.set(key, steps) }
  share({ total_bytes, threads, global_thread }) {
    return { bytes: threads ? Math.floor(total_bytes / (threads + (global_thread ? 1 : 0))) : total_bytes }
  }
}

const OPS = `put put_all put_if_absent get delete range reverse_range all reverse_all listen flush evict clear close resize
  usage metrics store_put store_get store_delete store_range store_all store_flush store_inner on_forward share`.split(/\s+/)
const START = { version: 1, implementation: { name: 'outside', version: '1', language: 'javascript' },
  systems: { 'kafka-streams': { ops: OPS, introspection: ['dirty', 'lru'] } } }

const answer = ({ cmd, id, config, steps }) => {
  if (cmd === 'start') return START
  const cache = new Cache(config)
  const outcomes = []
  try {
    for (const step of steps) outcomes.push(cache.play(step))
  } catch (failure) {
    return { id, errored: { step: outcomes.length, message: String(failure), traceback: failure.stack } }
  }
  return { id, outcomes }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line)
  if (request.cmd === 'stop') break
  process.stdout.write(`${JSON.stringify(answer(request))}\n`)
}
process.exitCode = 0
