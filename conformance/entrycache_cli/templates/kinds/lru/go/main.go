// An adapter for a cache that evicts the least recently used entry, with a limit in entries. One JSON object a line
// comes on stdin, one a line is answered on stdout; logs go to stderr.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// entryBytes is the size that the runner gives every entry, so that a limit in bytes is one in entries.
const entryBytes = 47

type step struct {
	Op    string `json:"op"`
	Key   string `json:"key"`
	Value string `json:"value"`
}

type request struct {
	Cmd    string
	ID     json.RawMessage
	Config struct {
		MaxSizeBytes *int `json:"max_size_bytes"`
	}
	Steps []step
}

type object map[string]any

func found(value string, there bool) any {
	if there {
		return value
	}
	return nil
}

// do performs one step on the cache and returns its outcome.
func do(c *lru, s step) object {
	switch s.Op {
	case "put":
		c.Add(s.Key, s.Value)
		return object{}
	case "put_if_absent":
		value, there := c.Get(s.Key)
		if !there {
			c.Add(s.Key, s.Value)
		}
		return object{"present": there, "existing": found(value, there)}
	case "get":
		value, there := c.Get(s.Key)
		return object{"hit": there, "value": found(value, there)}
	case "delete":
		value, there := c.Peek(s.Key)
		return object{"present": c.Remove(s.Key), "value": found(value, there)}
	case "usage":
		return object{"entries": c.Len(), "bytes": c.Len() * entryBytes}
	case "clear":
		c.Purge()
		return object{}
	case "evict":
		c.RemoveOldest()
		return object{}
	}
	panic("no operation " + s.Op)
}

var carried = object{"topic": "never", "headers": "never", "timestamp": "never", "offset": "never", "partition": "never"}
var offered = object{
	"ops":       []string{"put", "put_if_absent", "get", "delete", "usage", "clear", "evict"},
	"config":    []string{"max_size_bytes"},
	"limits":    object{"dirty": false, "namespaces": 1, "entry_size": entryBytes, "zero_limit": false},
	"arguments": object{"put": carried, "put_if_absent": carried, "get": object{"key": "always"}},
}
var implementation = object{"name": "my-cache", "version": "1", "language": "Go"}
var declared = object{"version": 1, "implementation": implementation, "systems": object{"kafka-streams": offered}}

// run starts from an empty instance. A panic is reported with the step at which it came.
func run(r request) (answer object) {
	outcomes := []object{}
	defer func() {
		if why := recover(); why != nil {
			errored := object{"step": len(outcomes), "message": fmt.Sprint(why), "traceback": string(debug.Stack())}
			answer = object{"id": r.ID, "errored": errored}
		}
	}()
	limit := 10485760
	if r.Config.MaxSizeBytes != nil {
		limit = *r.Config.MaxSizeBytes
	}
	c := newCache(limit / entryBytes)
	for _, s := range r.Steps {
		outcomes = append(outcomes, do(c, s))
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
