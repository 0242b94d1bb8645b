//! Plays vectors, by `cargo test`: cases with the outcomes that the rules ask for, a JSON object a line.
//! Those are played that need only what is declared. `ENTRYCACHE_VECTORS` names another pack.
use super::{declared, run};
use flate2::read::GzDecoder;
use serde_json::{json, Map, Value};
use std::fs::File;
use std::io::{BufRead, BufReader};

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// What of an object is sent or compared: these keys, where it has them.
fn among(from: &Value, names: &[&str]) -> Value {
    let all = from.as_object().into_iter().flatten().filter(|(key, _)| names.contains(&key.as_str()));
    Value::Object(all.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>())
}

#[test]
fn vectors() {
    let path = std::env::var("ENTRYCACHE_VECTORS").unwrap_or("vectors.jsonl.gz".into());
    let file = File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (mine, mut played, mut others) = (declared(), 0, 0);
    for line in BufReader::new(GzDecoder::new(file)).lines() {
        let vector: Value = serde_json::from_str(&line.expect("a pack is text")).expect("a line is JSON");
        let offered = &mine["systems"][vector["system"].as_str().expect("a vector names its system")];
        let (ops, shown) = (texts(&offered["ops"]), texts(&offered["introspection"]));
        let steps = vector["steps"].as_array().expect("a vector has steps");
        if !steps.iter().all(|step| step["op"].as_str().is_some_and(|op| ops.contains(&op))) {
            others += 1;
            continue;
        }
        let config = among(&vector["config"], &texts(&offered["config"]));
        let answer = run(&json!({"id": played, "config": config, "steps": steps}));
        played += 1;
        for (at, step) in steps.iter().enumerate() {
            let (mut expected, mut got) = (vector["outcomes"][at].clone(), answer["outcomes"][at].clone());
            got.as_object_mut().map(|told| told.remove("message")); // of a refusal, for people
            if step["op"] == "observe" {
                (expected, got) = (among(&expected, &shown), among(&got, &shown));
            }
            assert_eq!(expected, got, "{}: step {at}, {step}: expected, and got", vector["note"]);
        }
    }
    println!("{played} vectors played; {others} need more than is declared");
    assert!(played > 0, "no vector was played");
}
