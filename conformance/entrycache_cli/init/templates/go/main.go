// An adapter for system pulsar-pip430, level range, with a naive cache: put calls of your own in its place.
// One JSON object a line comes on stdin, one a line is answered on stdout; logs go to stderr.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"sort"
)

type position [2]int64

func (a position) below(b position) bool { return a[0] < b[0] || a[0] == b[0] && a[1] < b[1] }

// A step has the arguments of every op; those that an op does not have stay as they are made.
type step struct {
	Op            string   `json:"op"`
	Cache         *string  `json:"cache"`
	Pos           position `json:"pos"`
	Size          int64    `json:"size"`
	First         position `json:"first"`
	Last          position `json:"last"`
	LastInclusive bool     `json:"last_inclusive"`
}

type request struct {
	Cmd    string           `json:"cmd"`
	ID     json.RawMessage  `json:"id"`
	Config map[string]int64 `json:"config"`
	Steps  []step           `json:"steps"`
}

type object map[string]any

// The cache: the size of every entry, by cache and position.
type cache struct {
	disabled bool
	caches   map[string]map[position]int64
}

func (c *cache) insert(name string, pos position, size int64) bool {
	if c.caches[name] == nil {
		c.caches[name] = map[position]int64{}
	}
	isNew := !c.has(name, pos) && !c.disabled
	if isNew {
		c.caches[name][pos] = size
	}
	return isNew
}

func (c *cache) has(name string, pos position) bool {
	_, there := c.caches[name][pos]
	return there
}

// between answers the positions of a cache in that range, ascending; never nil, which JSON would tell as null.
func (c *cache) between(name string, first, last position, lastToo bool) []position {
	found := []position{}
	for pos := range c.caches[name] {
		if !pos.below(first) && (pos.below(last) || lastToo && pos == last) {
			found = append(found, pos)
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].below(found[j]) })
	return found
}

func (c *cache) bytes(name string) (sum int64) {
	for _, size := range c.caches[name] {
		sum += size
	}
	return sum
}

func (c *cache) remove(name string, positions []position) object {
	before := c.bytes(name)
	for _, pos := range positions {
		delete(c.caches[name], pos)
	}
	return object{"entries": len(positions), "bytes": before - c.bytes(name)}
}

func all(c *cache, name string) []position {
	return c.between(name, position{}, position{math.MaxInt64}, true)
}

// do is one step: its arguments as they came, its outcome as it goes. Without a cache it is about all of them.
func (c *cache) do(name string, s step) object {
	switch s.Op {
	case "insert":
		if s.Size < 0 {
			return object{"error": "illegal-argument"}
		}
		return object{"inserted": c.insert(name, s.Pos, s.Size)}
	case "get":
		return object{"hit": c.has(name, s.Pos)}
	case "exists":
		return object{"exists": c.has(name, s.Pos)}
	case "get_range":
		return object{"hits": c.between(name, s.First, s.Last, true)}
	case "remove_range":
		return c.remove(name, c.between(name, s.First, s.Last, s.LastInclusive))
	case "clear":
		return c.remove(name, all(c, name))
	case "usage", "observe":
		entries, bytes, shown := 0, int64(0), object{}
		for each := range c.caches {
			if here := all(c, each); len(here) > 0 && (s.Cache == nil || each == name) {
				entries, bytes = entries+len(here), bytes+c.bytes(each)
				shown[each] = object{"bytes": c.bytes(each), "entries": here}
			}
		}
		if s.Op == "usage" {
			return object{"entries": entries, "bytes": bytes}
		}
		return object{"bytes": bytes, "caches": shown}
	}
	panic("no operation " + s.Op)
}

const declared = `{"version":1,"implementation":{"name":"my-cache","version":"1","language":"Go"},` +
	`"systems":{"pulsar-pip430":{"config":["max_size_bytes"],"introspection":["bytes","caches"],` +
	`"ops":["insert","get","exists","get_range","remove_range","clear","usage","observe"]}}}`

// run starts from an empty instance; what panics is told with the step at which it did.
func run(r request) (answer object) {
	outcomes := []object{}
	defer func() {
		if why := recover(); why != nil {
			told := object{"step": len(outcomes), "message": fmt.Sprint(why), "traceback": string(debug.Stack())}
			answer = object{"id": r.ID, "errored": told}
		}
	}()
	maxSizeBytes, told := r.Config["max_size_bytes"]
	c := &cache{told && maxSizeBytes == 0, map[string]map[position]int64{}}
	for _, s := range r.Steps {
		name := ""
		if s.Cache != nil {
			name = *s.Cache
		}
		outcomes = append(outcomes, c.do(name, s))
	}
	return object{"id": r.ID, "outcomes": outcomes}
}

func main() {
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for {
		var r request
		if err := in.Decode(&r); err == io.EOF || r.Cmd == "stop" {
			return
		} else if err != nil {
			panic(err)
		}
		var answer any = json.RawMessage(declared)
		if r.Cmd != "start" {
			answer = run(r)
		}
		_ = out.Encode(answer)
	}
}
