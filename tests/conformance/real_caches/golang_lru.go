package main

import "github.com/hashicorp/golang-lru/v2/simplelru"

type lru = simplelru.LRU[string, string]

func newCache(most int) *lru {
	cache, err := simplelru.NewLRU[string, string](most, nil)
	if err != nil {
		panic(err)
	}
	return cache
}
