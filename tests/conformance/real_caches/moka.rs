//! moka with its policy of the least recently used entry. Its housekeeping runs after each call, because it is lazy.
use moka::policy::EvictionPolicy;
use moka::sync::Cache;

pub struct Lru {
    entries: Cache<String, String>,
}

impl Lru {
    pub fn new(most: usize) -> Self {
        let policy = EvictionPolicy::lru();
        Self { entries: Cache::builder().max_capacity(most as u64).eviction_policy(policy).build() }
    }

    pub fn put(&mut self, key: &str, value: &str) {
        self.entries.insert(key.to_string(), value.to_string());
        self.entries.run_pending_tasks();
    }

    pub fn get(&mut self, key: &str) -> Option<String> {
        let value = self.entries.get(key);
        self.entries.run_pending_tasks();
        value
    }

    pub fn delete(&mut self, key: &str) -> Option<String> {
        let value = self.entries.remove(key);
        self.entries.run_pending_tasks();
        value
    }

    pub fn clear(&mut self) {
        self.entries.invalidate_all();
        self.entries.run_pending_tasks();
    }

    pub fn size(&self) -> usize {
        self.entries.entry_count() as usize
    }
}
