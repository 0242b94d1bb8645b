//! An adapter for a cache that evicts the least recently used entry, with a limit in entries. One JSON object a line
//! comes on stdin, one a line is answered on stdout; logs go to stderr.
use serde_json::{json, Value};
use std::io::{stdin, stdout, BufRead, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};

mod cache;

use cache::Lru;

/// The runner gives every entry this size, so that a limit in bytes is one in entries.
const ENTRY_BYTES: u64 = 47;

/// Performs one step and returns its outcome.
fn perform(cache: &mut Lru, step: &Value) -> Value {
    let text = |name: &str| step[name].as_str().unwrap_or_default().to_string();
    let key = text("key");
    match step["op"].as_str().expect("op is a text") {
        "put" => {
            cache.put(&key, &text("value"));
            json!({})
        }
        "put_if_absent" => {
            let existing = cache.get(&key);
            if existing.is_none() {
                cache.put(&key, &text("value"));
            }
            json!({"present": existing.is_some(), "existing": existing})
        }
        "get" => {
            let value = cache.get(&key);
            json!({"hit": value.is_some(), "value": value})
        }
        "delete" => {
            let value = cache.delete(&key);
            json!({"present": value.is_some(), "value": value})
        }
        "usage" => json!({"entries": cache.size(), "bytes": cache.size() as u64 * ENTRY_BYTES}),
        "clear" => {
            cache.clear();
            json!({})
        }
        op => panic!("no operation {op}"),
    }
}

fn declared() -> Value {
    let carried =
        json!({"topic": "never", "headers": "never", "timestamp": "never", "offset": "never", "partition": "never"});
    let system = json!({
        "ops": ["put", "put_if_absent", "get", "delete", "usage", "clear"],
        "config": ["max_size_bytes"],
        "limits": {"dirty": false, "namespaces": 1, "entry_size": ENTRY_BYTES, "zero_limit": false},
        "arguments": {"put": carried, "put_if_absent": carried, "get": {"key": "always"}},
    });
    let implementation = json!({"name": "my-cache", "version": "1", "language": "Rust"});
    json!({"version": 1, "implementation": implementation, "systems": {"kafka-streams": system}})
}

/// A run starts from an empty instance. A panic is reported with the step at which it came.
fn run(request: &Value) -> Value {
    let limit = request["config"]["max_size_bytes"].as_u64().unwrap_or(10_485_760);
    let mut cache = Lru::new((limit / ENTRY_BYTES) as usize);
    let mut outcomes = Vec::new();
    for step in request["steps"].as_array().expect("steps are a list") {
        match catch_unwind(AssertUnwindSafe(|| perform(&mut cache, step))) {
            Ok(outcome) => outcomes.push(outcome),
            Err(why) => {
                let text = why.downcast_ref::<String>().cloned();
                let message = text.or(why.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_default();
                return json!({"id": request["id"], "errored": {"step": outcomes.len(), "message": message}});
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
