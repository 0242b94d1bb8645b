//! Plays vectors, by `cargo test`: cases with the outcomes that the rules ask for, a JSON object a line.
//! Those are played that need only what is declared. `ENTRYCACHE_VECTORS` names another; its manifest stands beside it.
use super::{declared, run};
use flate2::read::GzDecoder;
use serde_json::{json, Map, Value};
use sha2::{Digest, Sha256};
use std::fs::{read_to_string, File};
use std::io::Read;
use std::path::PathBuf;

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
    let pack = PathBuf::from(std::env::var("ENTRYCACHE_VECTORS").unwrap_or("vectors/small.jsonl.gz".into()));
    let mut text = String::new();
    let file = File::open(&pack).expect("there is a pack");
    GzDecoder::new(file).read_to_string(&mut text).expect("a pack is a whole gzip of text");
    let manifest = read_to_string(pack.with_file_name("manifest.json")).expect("a manifest stands beside the pack");
    let hash = format!("{:x}", Sha256::digest(&text));
    assert!(manifest.contains(&hash), "{} is not as the manifest beside it says", pack.display());
    let varies = &serde_json::from_str::<Value>(&manifest).expect("a manifest is JSON")["varies"];
    let (mine, mut played, mut own) = (declared(), 0, 0);
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).expect("a line is JSON");
        let offered = &mine["systems"][vector["system"].as_str().expect("a vector names its system")];
        own += usize::from(offered.is_object());
        let (ops, settings) = (texts(&offered["ops"]), texts(&offered["config"]));
        let shown = texts(&offered["introspection"]);
        let pack =
            vector["note"].as_str().and_then(|note| note.split(' ').next()).expect("a note begins with its pack");
        let usual = varies[pack].as_object().expect("a manifest has what each pack varies");
        let tells =
            |(name, value): (&String, &Value)| vector["config"][name] == *value || settings.contains(&&name[..]);
        let steps = vector["steps"].as_array().expect("a vector has steps");
        let asks = |step: &Value| step["op"].as_str().is_some_and(|op| ops.contains(&op));
        if steps.is_empty() || !steps.iter().all(asks) || !usual.iter().all(tells) {
            continue;
        }
        let config = among(&vector["config"], &settings);
        let answer = run(&json!({"id": played, "config": config, "steps": steps}));
        assert!(answer["outcomes"].is_array(), "{}: {answer}", vector["note"]);
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
    println!("{played} of {own} vectors played; the others need more");
    assert!(played >= 10 && 10 * played >= own, "too few vectors were played: expected 10, and one of ten of {own}");
}
