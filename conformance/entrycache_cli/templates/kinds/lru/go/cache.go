package main

import "container/list"

// lru is a naive cache: put a cache of your own in its place.
type lru struct {
	most    int
	order   *list.List // of entries, the most recently used first
	entries map[string]*list.Element
}

type entry struct{ key, value string }

func newCache(most int) *lru {
	return &lru{most, list.New(), map[string]*list.Element{}}
}

func (c *lru) Add(key, value string) bool {
	if at, there := c.entries[key]; there {
		at.Value = entry{key, value}
		c.order.MoveToFront(at)
		return false
	}
	c.entries[key] = c.order.PushFront(entry{key, value})
	if c.Len() > c.most {
		c.RemoveOldest()
		return true
	}
	return false
}

func (c *lru) Get(key string) (string, bool) {
	if at, there := c.entries[key]; there {
		c.order.MoveToFront(at)
	}
	return c.Peek(key)
}

func (c *lru) Peek(key string) (value string, there bool) {
	if at, there := c.entries[key]; there {
		return at.Value.(entry).value, true
	}
	return "", false
}

func (c *lru) Remove(key string) bool {
	at, there := c.entries[key]
	if there {
		c.order.Remove(at)
		delete(c.entries, key)
	}
	return there
}

func (c *lru) RemoveOldest() (key, value string, there bool) {
	if at := c.order.Back(); at != nil {
		oldest := at.Value.(entry)
		return oldest.key, oldest.value, c.Remove(oldest.key)
	}
	return "", "", false
}

func (c *lru) Purge() {
	c.order.Init()
	clear(c.entries)
}

func (c *lru) Len() int { return c.order.Len() }
