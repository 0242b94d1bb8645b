//! An adapter for system `pulsar-pip430`, level `range`, with a naive cache: put calls of your own in its place.
//! One JSON object a line comes on stdin, one a line is answered on stdout; logs go to stderr.
use serde_json::{json, Map, Value};
use std::collections::BTreeMap;
use std::io::{stdin, stdout, BufRead, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};

#[cfg(test)]
mod vectors;

/// Ledger and entry; the derived order is that of positions.
type Position = (i64, i64);

/// The cache: the size of every entry, by cache and position.
#[derive(Default)]
struct Cache {
    disabled: bool,
    caches: BTreeMap<String, BTreeMap<Position, i64>>,
}

impl Cache {
    fn insert(&mut self, name: &str, pos: Position, size: i64) -> bool {
        let entries = self.caches.entry(name.to_string()).or_default();
        if self.disabled || entries.contains_key(&pos) {
            return false;
        }
        entries.insert(pos, size);
        true
    }

    fn has(&self, name: &str, pos: Position) -> bool {
        self.caches.get(name).is_some_and(|entries| entries.contains_key(&pos))
    }

    fn entries(&self, name: &str, wanted: impl Fn(Position) -> bool) -> Vec<(Position, i64)> {
        let all = self.caches.get(name).into_iter().flatten();
        all.map(|(pos, size)| (*pos, *size)).filter(|(pos, _)| wanted(*pos)).collect()
    }

    fn remove(&mut self, name: &str, wanted: impl Fn(Position) -> bool) -> Value {
        let gone = self.entries(name, &wanted);
        if let Some(entries) = self.caches.get_mut(name) {
            entries.retain(|pos, _| !wanted(*pos));
        }
        count(&gone)
    }

    /// One step: its arguments as they came, its outcome as it goes.
    fn perform(&mut self, step: &Value) -> Value {
        let name = step["cache"].as_str().unwrap_or_default();
        let pos = position(&step["pos"]);
        let (first, last) = (position(&step["first"]), position(&step["last"]));
        match step["op"].as_str().expect("op is a text") {
            "insert" => match step["size"].as_i64().expect("size is an integer") {
                ..=-1 => json!({"error": "illegal-argument"}),
                size => json!({"inserted": self.insert(name, pos, size)}),
            },
            "get" => json!({"hit": self.has(name, pos)}),
            "exists" => json!({"exists": self.has(name, pos)}),
            "get_range" => {
                json!({"hits": positions(&self.entries(name, |at| first <= at && at <= last))})
            }
            "remove_range" => {
                let last_too = step["last_inclusive"] == true;
                self.remove(name, |at| first <= at && (at < last || last_too && at == last))
            }
            "clear" => self.remove(name, |_| true),
            "usage" => {
                let names = self.caches.keys().filter(|each| step["cache"].is_null() || *each == name);
                count(&names.flat_map(|each| self.entries(each, |_| true)).collect::<Vec<_>>())
            }
            "observe" => self.observe(),
            op => panic!("no operation {op}"),
        }
    }

    fn observe(&self) -> Value {
        let (mut shown, mut bytes) = (Map::new(), 0);
        for (name, entries) in self.caches.iter().filter(|(_, entries)| !entries.is_empty()) {
            let here: i64 = entries.values().sum();
            bytes += here;
            let all = positions(&self.entries(name, |_| true));
            shown.insert(name.clone(), json!({"bytes": here, "entries": all}));
        }
        json!({"bytes": bytes, "caches": shown})
    }
}

fn count(entries: &[(Position, i64)]) -> Value {
    json!({"entries": entries.len(), "bytes": entries.iter().map(|(_, size)| size).sum::<i64>()})
}

fn positions(entries: &[(Position, i64)]) -> Vec<Position> {
    entries.iter().map(|(pos, _)| *pos).collect()
}

/// An argument that an op does not have is a position that nobody looks at.
fn position(value: &Value) -> Position {
    (value[0].as_i64().unwrap_or_default(), value[1].as_i64().unwrap_or_default())
}

fn declared() -> Value {
    let ops = ["insert", "get", "exists", "get_range", "remove_range", "clear", "usage", "observe"];
    let system = json!({"ops": ops, "config": ["max_size_bytes"], "introspection": ["bytes", "caches"]});
    let implementation = json!({"name": "my-cache", "version": "1", "language": "Rust"});
    json!({"version": 1, "implementation": implementation, "systems": {"pulsar-pip430": system}})
}

/// A run starts from an empty instance; what panics is told with the step at which it did.
fn run(request: &Value) -> Value {
    let mut cache = Cache { disabled: request["config"]["max_size_bytes"] == 0, ..Cache::default() };
    let mut outcomes = Vec::new();
    for step in request["steps"].as_array().expect("steps are a list") {
        match catch_unwind(AssertUnwindSafe(|| cache.perform(step))) {
            Ok(outcome) => outcomes.push(outcome),
            Err(why) => {
                let said = why.downcast_ref::<String>().cloned();
                let message = said.or(why.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_default();
                let told = json!({"step": outcomes.len(), "message": message});
                return json!({"id": request["id"], "errored": told});
            }
        }
    }
    json!({"id": request["id"], "outcomes": outcomes})
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let answer = match request["cmd"].as_str() {
            Some("stop") => return Ok(()),
            Some("start") => declared(),
            _ => run(&request),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
