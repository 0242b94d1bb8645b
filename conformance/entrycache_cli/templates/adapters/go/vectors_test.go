// Plays the vectors that need only what is declared, by `go test`; another pack is named by ENTRYCACHE_VECTORS.
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
	"strings"
	"testing"
)

type vector struct {
	request
	System, Note string
	Outcomes     []object
}

func must[T any](value T, err error) T { // ends the test where something cannot be read
	if err != nil {
		panic(err)
	}
	return value
}

func TestVectors(t *testing.T) {
	pack := cmp.Or(os.Getenv("ENTRYCACHE_VECTORS"), "vectors/small.jsonl.gz")
	text := must(io.ReadAll(must(gzip.NewReader(must(os.Open(pack))))))
	manifest := must(os.ReadFile(filepath.Join(filepath.Dir(pack), "manifest.json")))
	played, known := 0, struct{ Varies map[string]object }{}
	if must(0, json.Unmarshal(manifest, &known)); !bytes.Contains(manifest, fmt.Appendf(nil, "%x", sha256.Sum256(text))) {
		t.Fatalf("%s is not as the manifest beside it says", pack)
	}
	for lines := json.NewDecoder(bytes.NewReader(text)); lines.More(); {
		v := new(vector)
		rest := maps.Clone(known.Varies[strings.Fields(must(v, lines.Decode(v)).Note)[0]])
		tells := func(name string, usual any) bool { return v.Config[name] == usual || slices.Contains(settings, name) }
		lacks := func(s step) bool { return !slices.Contains(ops, s.Op) }
		if maps.DeleteFunc(rest, tells); v.System != system || len(rest) > 0 || slices.ContainsFunc(v.Steps, lacks) {
			continue
		}
		played += min(1, len(v.Steps))
		c := open(v.Config)
		for at, s := range v.Steps {
			hidden := func(name string, _ any) bool { // of a refusal, its words are for people
				return name == "message" || s.Op == "observe" && !slices.Contains(introspection, name)
			}
			told := func(o object) []byte { maps.DeleteFunc(o, hidden); return must(json.Marshal(o)) }
			if want, got := told(v.Outcomes[at]), told(c.do(s)); !bytes.Equal(want, got) {
				t.Fatalf("%s: step %d, %s: expected %s, got %s", v.Note, at, must(json.Marshal(s)), want, got)
			}
		}
	}
	own := bytes.Count(text, fmt.Appendf(nil, `"system":%q`, system))
	if t.Logf("%d of %d vectors played; the others need more", played, own); played < 10 || 10*played < own {
		t.Fatal("too few vectors were played: expected 10, and one of ten of this system")
	}
}
