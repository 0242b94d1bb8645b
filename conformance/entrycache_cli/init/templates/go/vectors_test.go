// Plays vectors, by `go test`: cases with the outcomes that the rules ask for, a JSON object a line.
// Those are played that need only what is declared. ENTRYCACHE_VECTORS names another pack.
package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"
)

type vector struct {
	System, Note    string
	Config          object
	Steps, Outcomes []object
}

// into makes one value of another by way of JSON.
func into(t *testing.T, from, to any) {
	text, err := json.Marshal(from)
	if err = cmp.Or(err, json.Unmarshal(text, to)); err != nil {
		t.Fatal(err)
	}
}

// among is what of an object is sent or compared: these keys, where it has them.
func among(from object, names []string) object {
	found := object{}
	for _, name := range names {
		if value, there := from[name]; there {
			found[name] = value
		}
	}
	return found
}

func TestVectors(t *testing.T) {
	file, err := os.Open(cmp.Or(os.Getenv("ENTRYCACHE_VECTORS"), "vectors.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var mine struct {
		Systems map[string]struct{ Ops, Config, Introspection []string }
	}
	into(t, json.RawMessage(declared), &mine)
	played, others := 0, 0
	for lines := json.NewDecoder(text); lines.More(); {
		var v vector
		if err := lines.Decode(&v); err != nil {
			t.Fatal(err)
		}
		offered := mine.Systems[v.System]
		if slices.ContainsFunc(v.Steps, func(s object) bool { return !slices.Contains(offered.Ops, s["op"].(string)) }) {
			others++
			continue
		}
		var r request
		into(t, object{"id": played, "config": among(v.Config, offered.Config), "steps": v.Steps}, &r)
		var answer struct{ Outcomes []object }
		into(t, run(r), &answer)
		played++
		for at, expected := range v.Outcomes {
			got := object{"missing": "run answered no outcome"}
			if at < len(answer.Outcomes) {
				got = answer.Outcomes[at]
				delete(got, "message") // of a refusal, for people
			}
			if v.Steps[at]["op"] == "observe" {
				expected, got = among(expected, offered.Introspection), among(got, offered.Introspection)
			}
			if !reflect.DeepEqual(expected, got) {
				t.Fatalf("%s: step %d, %v: expected %v, got %v", v.Note, at, v.Steps[at], expected, got)
			}
		}
	}
	if t.Logf("%d vectors played; %d need more than is declared", played, others); played == 0 {
		t.Fatal("no vector was played")
	}
}
