// An entry cache for system `pulsar-pip430`, levels `range` and `queue`.
// Written from the written protocol and rules, without sight of the suite that checks it.
// What clear and remove_range take out stays in its removal queue as a tombstone until a pass meets it.
package main

import (
	"bufio"
	"bytes"
	"container/list"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

type (
	position [2]int64
	outcome  map[string]any
	object   map[string]json.RawMessage
)

// --- What the schema admits ---------------------------------------------------------------------

const (
	maxSafe  = 1<<53 - 1
	maxInt32 = 1<<31 - 1
)

type kind func(json.RawMessage) bool

func integer(low, high int64) kind {
	return func(raw json.RawMessage) bool {
		n, err := strconv.ParseInt(string(raw), 10, 64)
		return err == nil && low <= n && n <= high
	}
}

func pair(part kind) kind {
	return func(raw json.RawMessage) bool {
		var parts []json.RawMessage
		return json.Unmarshal(raw, &parts) == nil && len(parts) == 2 && part(parts[0]) && part(parts[1])
	}
}

func oneOf(literals ...string) kind {
	return func(raw json.RawMessage) bool { return slices.Contains(literals, string(raw)) }
}

func text(raw json.RawMessage) bool { return raw[0] == '"' }

func fraction(raw json.RawMessage) bool {
	x, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && 0 <= x && x <= 1
}

func countOrNull(raw json.RawMessage) bool {
	return string(raw) == "null" || integer(-maxInt32, maxInt32)(raw)
}

var (
	number, natural, truth = integer(-maxSafe, maxSafe), integer(0, maxSafe), oneOf("true", "false")

	kinds = map[string]kind{
		"op": text, "cache": text, "pos": pair(natural), "first": pair(integer(-1, maxSafe)), "last": pair(integer(-1, maxSafe)),
		"last_inclusive": truth, "size": number, "bytes": number, "nanos": number, "older_than_nanos": number,
		"expected_reads": countOrNull,

		"max_size_bytes": natural, "ttl_nanos": natural, "max_requeues": integer(0, maxInt32),
		"extend_recently_accessed": truth, "watermark": fraction, "evict_by_expected_reads": truth,
		"evict_by_mark_deleted": truth, "grace_millis": natural, "storage_entry_size": integer(1, maxSafe),
		"eviction": oneOf(`"inline"`, `"manual"`),
	}
	actedOn    = []string{"max_size_bytes", "ttl_nanos", "max_requeues", "extend_recently_accessed"}
	configKeys = strings.Join(actedOn, "? ") + "? watermark? evict_by_expected_reads? evict_by_mark_deleted? " +
		"grace_millis? storage_entry_size? eviction?" // the rest is valid, but without effect at these two levels
	operations = map[string]struct {
		keys  string
		apply func(*caches, step) outcome
	}{
		"insert":       {"cache pos size expected_reads?", (*caches).insert},
		"get":          {"cache pos", (*caches).get},
		"get_range":    {"cache first last", (*caches).getRange},
		"exists":       {"cache pos", (*caches).exists},
		"remove_range": {"cache first last last_inclusive", (*caches).removeRange},
		"clear":        {"cache", (*caches).clear},
		"usage":        {"cache?", (*caches).usage},
		"advance":      {"nanos", (*caches).advance},
		"expire":       {"older_than_nanos?", (*caches).expire},
		"evict":        {"bytes", (*caches).evict},
		"mark_read":    {"cache pos", (*caches).markRead},
		"expect_read":  {"cache pos", (*caches).expectRead},
		"observe":      {"", (*caches).observe},
	}
)

// parse checks an object against the keys it may have ("?": need not have) and fills target from it.
func parse(raw json.RawMessage, keys string, target any) error {
	var fields object
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return fmt.Errorf("not an object: %.80s", raw)
	}
	for _, key := range strings.Fields(keys) {
		name, optional := strings.CutSuffix(key, "?")
		value, given := fields[name]
		if given && !kinds[name](value) || !given && !optional {
			return fmt.Errorf("bad or missing %s: %s", name, value)
		}
		delete(fields, name)
	}
	for name := range fields {
		return fmt.Errorf("unknown key %q", name)
	}
	return json.Unmarshal(raw, target)
}

// --- The cache ----------------------------------------------------------------------------------

type step struct {
	Cache            *string
	Pos, First, Last position
	LastInclusive    bool `json:"last_inclusive"`
	Size             int64
	ExpectedReads    int64 `json:"expected_reads"` // absent and null: 0
	Nanos, Bytes     int64
	OlderThanNanos   *int64 `json:"older_than_nanos"`
}

type settings struct {
	MaxSizeBytes           int64 `json:"max_size_bytes"`
	TTLNanos               int64 `json:"ttl_nanos"`
	MaxRequeues            int64 `json:"max_requeues"`
	ExtendRecentlyAccessed bool  `json:"extend_recently_accessed"`
}

type entry struct {
	cache                 string
	pos                   position
	size, stamp, requeues int64
	accessed, tombstone   bool
	counted               bool // carries reads, whatever their number is by now
	reads                 int64
}

func (e *entry) expectedReads() any {
	if !e.counted {
		return nil
	}
	return e.reads
}

// entries stand in ascending order of position.
type entries []*entry

func (all entries) search(pos position) (index int, found bool) {
	return slices.BinarySearchFunc(all, pos, func(e *entry, pos position) int { return slices.Compare(e.pos[:], pos[:]) })
}

// span is the index range from first to last, an empty one where they are reversed.
func (all entries) span(first, last position, inclusive bool) (from, to int) {
	from, _ = all.search(first)
	to, found := all.search(last)
	if found && inclusive {
		to++
	}
	return from, max(from, to)
}

func (all entries) bytes() (sum int64) {
	for _, e := range all {
		sum += e.size
	}
	return sum
}

func (all entries) count() outcome { return outcome{"entries": len(all), "bytes": all.bytes()} }

func (all entries) positions() []position {
	positions := make([]position, len(all))
	for i, e := range all {
		positions[i] = e.pos
	}
	return positions
}

// caches are all caches of one run, with the removal queue and the virtual clock they share.
type caches struct {
	settings
	now        int64
	byName     map[string]entries
	queue      *list.List // of *entry from head to tail, tombstones included
	tombstones int
}

func refused() outcome { return outcome{"error": "illegal-argument"} }

func (c *caches) find(s step) *entry {
	all := c.byName[*s.Cache]
	if index, found := all.search(s.Pos); found {
		return all[index]
	}
	return nil
}

func (c *caches) insert(s step) outcome {
	if s.Size < 0 {
		return refused()
	}
	all := c.byName[*s.Cache]
	index, found := all.search(s.Pos)
	if found || c.MaxSizeBytes == 0 {
		return outcome{"inserted": false}
	}
	e := &entry{cache: *s.Cache, pos: s.Pos, size: s.Size, stamp: c.now, counted: s.ExpectedReads > 0}
	if e.counted {
		e.reads = s.ExpectedReads
	}
	c.byName[*s.Cache] = slices.Insert(all, index, e)
	c.queue.PushBack(e)
	return outcome{"inserted": true}
}

func (c *caches) get(s step) outcome {
	e := c.find(s)
	if e != nil {
		e.accessed = true
	}
	return outcome{"hit": e != nil}
}

func (c *caches) getRange(s step) outcome {
	all := c.byName[*s.Cache]
	from, to := all.span(s.First, s.Last, true)
	for _, e := range all[from:to] {
		e.accessed = true
	}
	return outcome{"hits": all[from:to].positions()}
}

func (c *caches) exists(s step) outcome { return outcome{"exists": c.find(s) != nil} }

func (c *caches) removeRange(s step) outcome {
	from, to := c.byName[*s.Cache].span(s.First, s.Last, s.LastInclusive)
	return c.bury(*s.Cache, from, to)
}

func (c *caches) clear(s step) outcome { return c.bury(*s.Cache, 0, len(c.byName[*s.Cache])) }

// bury takes entries out of their cache and leaves them in the queue.
func (c *caches) bury(name string, from, to int) outcome {
	removed := c.byName[name][from:to].count()
	for _, e := range c.byName[name][from:to] {
		e.tombstone = true
	}
	c.tombstones += to - from
	c.byName[name] = slices.Delete(c.byName[name], from, to)
	return removed
}

func (c *caches) usage(s step) outcome {
	if s.Cache != nil {
		return c.byName[*s.Cache].count()
	}
	return c.live().count()
}

// live is what the queue holds, without the tombstones, from head to tail.
func (c *caches) live() (live entries) {
	for node := c.queue.Front(); node != nil; node = node.Next() {
		if e := node.Value.(*entry); !e.tombstone {
			live = append(live, e)
		}
	}
	return live
}

func (c *caches) advance(s step) outcome {
	if s.Nanos < 0 {
		return refused()
	}
	c.now += s.Nanos
	return outcome{}
}

func (c *caches) expire(s step) outcome {
	age := c.TTLNanos
	if s.OlderThanNanos != nil {
		age = *s.OlderThanNanos
	}
	if age < 0 {
		return refused()
	}
	return c.pass(c.now-age, math.MaxInt64)
}

func (c *caches) evict(s step) outcome {
	if s.Bytes <= 0 {
		return refused()
	}
	return c.pass(math.MaxInt64, s.Bytes)
}

// pass works from the head until a live entry's stamp reaches the cutoff or the bytes removed reach the target.
// Tombstones it meets vanish.
func (c *caches) pass(cutoff, target int64) outcome {
	var removed, freed, requeuedInARow int64
	for head := c.queue.Front(); head != nil; head = c.queue.Front() {
		e := head.Value.(*entry)
		switch {
		case e.tombstone:
			c.queue.Remove(head)
			c.tombstones--
		case e.stamp >= cutoff || freed >= target:
			return outcome{"entries": removed, "bytes": freed}
		case c.mayStay(e):
			e.stamp, e.accessed, e.requeues = c.now, false, e.requeues+1
			c.queue.MoveToBack(head)
			requeuedInARow++
			if requeuedInARow%int64(c.queue.Len()) == 0 && c.now < cutoff {
				c.skipIdleRounds()
			}
		default:
			c.queue.Remove(head)
			index, _ := c.byName[e.cache].search(e.pos)
			c.byName[e.cache] = slices.Delete(c.byName[e.cache], index, index+1)
			removed, freed, requeuedInARow = removed+1, freed+e.size, 0
		}
	}
	return outcome{"entries": removed, "bytes": freed}
}

func (c *caches) mayStay(e *entry) bool {
	return c.ExtendRecentlyAccessed && e.accessed || e.reads >= 1 && e.requeues < c.MaxRequeues
}

// skipIdleRounds follows a round that removed nothing: none will until the smallest budget is spent, so it spends
// that in one go.
func (c *caches) skipIdleRounds() {
	live, rounds := c.live(), c.MaxRequeues
	for _, e := range live {
		if e.reads < 1 {
			return
		}
		rounds = min(rounds, c.MaxRequeues-e.requeues)
	}
	for _, e := range live {
		e.requeues += max(0, rounds)
	}
}

func (c *caches) markRead(s step) outcome   { return c.changeCount(s, -1) }
func (c *caches) expectRead(s step) outcome { return c.changeCount(s, +1) }

func (c *caches) changeCount(s step, by int64) outcome {
	e := c.find(s)
	if e == nil || !e.counted {
		return outcome{"expected_reads": nil}
	}
	e.reads += by
	return outcome{"expected_reads": e.reads}
}

func (c *caches) observe(step) outcome {
	contents, queue := outcome{}, []outcome{}
	for name, all := range c.byName {
		if len(all) > 0 {
			contents[name] = outcome{"bytes": all.bytes(), "entries": all.positions()}
		}
	}
	for _, e := range c.live() {
		queue = append(queue, outcome{"cache": e.cache, "pos": e.pos, "size": e.size, "age_nanos": c.now - e.stamp,
			"requeues": e.requeues, "accessed": e.accessed, "expected_reads": e.expectedReads()})
	}
	return outcome{"now": c.now, "bytes": c.live().bytes(), "caches": contents, "queue": queue, "tombstones": c.tombstones}
}

// --- The protocol -------------------------------------------------------------------------------

type request struct {
	Cmd, System string
	Version     int
	ID          json.RawMessage
	Config      json.RawMessage
	Steps       []json.RawMessage
}

func describe() outcome {
	var ops []string
	for name := range operations {
		ops = append(ops, name)
	}
	slices.Sort(ops)
	return outcome{"version": 1,
		"implementation": outcome{"name": "outside-go", "version": "1.0.0", "language": "Go", "source": "tests/conformance/outside/cache.go"},
		"systems": outcome{"pulsar-pip430": outcome{"ops": ops, "config": actedOn,
			"introspection": []string{"now", "bytes", "caches", "queue", "requeues", "tombstones"}}}}
}

func run(r request) outcome {
	outcomes := []outcome{}
	errored := func(err error) outcome {
		return outcome{"id": r.ID, "errored": outcome{"step": len(outcomes), "message": err.Error(), "traceback": ""}}
	}
	if r.System != "pulsar-pip430" {
		return errored(fmt.Errorf("unknown system %q", r.System))
	}
	config := settings{MaxSizeBytes: 134217728, TTLNanos: 1_000_000_000, MaxRequeues: 5, ExtendRecentlyAccessed: true}
	if r.Config != nil {
		if err := parse(r.Config, configKeys, &config); err != nil {
			return errored(fmt.Errorf("config: %w", err))
		}
	}
	instance := &caches{settings: config, byName: map[string]entries{}, queue: list.New()}
	for _, raw := range r.Steps {
		var name struct{ Op string }
		var args step
		if err := json.Unmarshal(raw, &name); err != nil {
			return errored(err)
		}
		op, known := operations[name.Op]
		if !known {
			return errored(fmt.Errorf("unknown op %q", name.Op))
		}
		if err := parse(raw, "op "+op.keys, &args); err != nil {
			return errored(fmt.Errorf("%s: %w", name.Op, err))
		}
		outcomes = append(outcomes, op.apply(instance, args))
	}
	return outcome{"id": r.ID, "outcomes": outcomes}
}

// serve answers line by line until it is told to stop or the input ends.
func serve(in *bufio.Reader, out *json.Encoder) error {
	for {
		line, readError := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var r request
			if err := json.Unmarshal(line, &r); err != nil {
				return err
			}
			answer := outcome(nil)
			switch {
			case r.Cmd == "stop":
				return nil
			case r.Cmd == "start" && r.Version == 1:
				answer = describe()
			case r.Cmd == "run":
				answer = run(r)
			default:
				return fmt.Errorf("not understood: %.200s", line)
			}
			if err := out.Encode(answer); err != nil {
				return err
			}
		}
		if readError == io.EOF {
			return nil
		} else if readError != nil {
			return readError
		}
	}
}

func main() {
	out := json.NewEncoder(os.Stdout) // unbuffered: every answer leaves at once
	out.SetEscapeHTML(false)
	if err := serve(bufio.NewReader(os.Stdin), out); err != nil {
		fmt.Fprintln(os.Stderr, "cache.go:", err)
		os.Exit(1)
	}
}
