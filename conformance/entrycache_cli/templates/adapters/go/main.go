// An adapter for system pulsar-pip430, level range, with a naive cache: put calls of your own in its place.
// One JSON object a line comes on stdin, one a line is answered on stdout; logs go to stderr.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"sort"
)

type position [2]int64

var end = position{math.MaxInt64, math.MaxInt64}

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
	Cmd    string
	ID     json.RawMessage
	Config object
	Steps  []step
}

type object map[string]any

// The cache: the size of every entry, by cache and position.
type cache struct {
	disabled bool
	caches   map[string]map[position]int64
}

func open(config object) *cache {
	return &cache{config["max_size_bytes"] == 0.0, map[string]map[position]int64{}}
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

// between answers the positions of a cache in that range, ascending, and the sum of their sizes; found is never nil,
// which JSON would tell as null.
func (c *cache) between(name string, first, last position, lastToo bool) (found []position, bytes int64) {
	found = []position{}
	for pos, size := range c.caches[name] {
		if !pos.below(first) && (pos.below(last) || lastToo && pos == last) {
			found, bytes = append(found, pos), bytes+size
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].below(found[j]) })
	return found, bytes
}

func (c *cache) remove(name string, first, last position, lastToo bool) object {
	gone, bytes := c.between(name, first, last, lastToo)
	for _, pos := range gone {
		delete(c.caches[name], pos)
	}
	return object{"entries": len(gone), "bytes": bytes}
}

// do is one step: its arguments as they came, its outcome as it goes. Without a cache it is about all of them.
func (c *cache) do(s step) object {
	name := *cmp.Or(s.Cache, new(string))
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
		hits, _ := c.between(name, s.First, s.Last, true)
		return object{"hits": hits}
	case "remove_range":
		return c.remove(name, s.First, s.Last, s.LastInclusive)
	case "clear":
		return c.remove(name, position{}, end, true)
	case "usage", "observe":
		entries, bytes, shown := 0, int64(0), object{}
		for each := range c.caches {
			if here, size := c.between(each, position{}, end, true); len(here) > 0 && (s.Cache == nil || each == name) {
				entries, bytes = entries+len(here), bytes+size
				shown[each] = object{"bytes": size, "entries": here}
			}
		}
		if s.Op == "usage" {
			return object{"entries": entries, "bytes": bytes}
		}
		return object{"bytes": bytes, "caches": shown}
	}
	panic("no operation " + s.Op)
}

const system = "pulsar-pip430"

// What is declared: settings that a case may have otherwise than usual; of observe, introspection is compared.
var ops = []string{"insert", "get", "exists", "get_range", "remove_range", "clear", "usage", "observe"}
var settings = []string{"max_size_bytes"}
var introspection = []string{"bytes", "caches"}
var offered = object{"ops": ops, "config": settings, "introspection": introspection}
var implementation = object{"name": "my-cache", "version": "1", "language": "Go"}
var declared = object{"version": 1, "implementation": implementation, "systems": object{system: offered}}

// run starts from an empty instance; what panics is told with the step at which it did.
func run(r request) (answer object) {
	outcomes := []object{}
	defer func() {
		if why := recover(); why != nil {
			told := object{"step": len(outcomes), "message": fmt.Sprint(why), "traceback": string(debug.Stack())}
			answer = object{"id": r.ID, "errored": told}
		}
	}()
	c := open(r.Config)
	for _, s := range r.Steps {
		outcomes = append(outcomes, c.do(s))
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
		answer := declared
		if r.Cmd != "start" {
			answer = run(r)
		}
		_ = out.Encode(answer)
	}
}
