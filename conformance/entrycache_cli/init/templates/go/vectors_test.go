// Plays vectors, by `go test`: cases with the outcomes that the rules ask for, a JSON object a line. Those are played
// that need only what is declared. ENTRYCACHE_VECTORS names another pack; its hash stands in the manifest beside it.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

type vector struct {
	request
	System, Note string
	Outcomes     []object
}

// must ends the test where something cannot be read.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestVectors(t *testing.T) {
	pack := cmp.Or(os.Getenv("ENTRYCACHE_VECTORS"), "vectors/small.jsonl.gz")
	text := must(io.ReadAll(must(gzip.NewReader(must(os.Open(pack))))))
	manifest := must(os.ReadFile(filepath.Join(filepath.Dir(pack), "manifest.json")))
	if !bytes.Contains(manifest, fmt.Appendf(nil, "%x", sha256.Sum256(text))) {
		t.Fatalf("%s is not as the manifest beside it says", pack)
	}
	played := 0
	for lines := json.NewDecoder(bytes.NewReader(text)); lines.More(); {
		v := new(vector)
		must(v, lines.Decode(v))
		if v.System != system || slices.ContainsFunc(v.Steps, func(s step) bool { return !slices.Contains(ops, s.Op) }) {
			continue
		}
		played++
		c := open(v.Config)
		for at, s := range v.Steps {
			hidden := func(name string, _ any) bool { return s.Op == "observe" && !slices.Contains(introspection, name) }
			expected, got := v.Outcomes[at], c.do(s)
			maps.DeleteFunc(expected, hidden)
			maps.DeleteFunc(got, hidden)
			delete(got, "message") // of a refusal, for people
			if want, told := must(json.Marshal(expected)), must(json.Marshal(got)); !bytes.Equal(want, told) {
				t.Fatalf("%s: step %d, %s: expected %s, got %s", v.Note, at, must(json.Marshal(s)), want, told)
			}
		}
	}
	if t.Logf("%d of %d vectors played; the others need more", played, bytes.Count(text, []byte("\n"))); played == 0 {
		t.Fatal("no vector was played")
	}
}
