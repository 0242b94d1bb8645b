//! A naive cache: put a cache of your own in its place.
use std::collections::VecDeque;

/// Keys and values from the least to the most recently used.
pub struct Lru {
    most: usize,
    entries: VecDeque<(String, String)>,
}

impl Lru {
    pub fn new(most: usize) -> Self {
        Self { most, entries: VecDeque::new() }
    }

    pub fn put(&mut self, key: &str, value: &str) {
        self.delete(key);
        self.entries.push_back((key.to_string(), value.to_string()));
        if self.entries.len() > self.most {
            self.entries.pop_front();
        }
    }

    pub fn get(&mut self, key: &str) -> Option<String> {
        let value = self.delete(key)?;
        self.put(key, &value);
        Some(value)
    }

    pub fn delete(&mut self, key: &str) -> Option<String> {
        let at = self.entries.iter().position(|(each, _)| each == key)?;
        self.entries.remove(at).map(|(_, value)| value)
    }

    pub fn clear(&mut self) {
        self.entries.clear();
    }

    pub fn size(&self) -> usize {
        self.entries.len()
    }
}
