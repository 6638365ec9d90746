package core

import (
	"iter"
	"slices"
)

// block is how many items a Table copies at most when one of them changes.
const block = 128

// Table is a list that only grows and whose items are replaced, never changed. It is a
// value: with and replace return another one and leave the one they were asked of as it
// was, at the cost of a block and not of the whole list.
type Table[T any] struct {
	blocks [][]*T
	size   int
}

// Len is the number of items.
func (t Table[T]) Len() int { return t.size }

// At returns an item, which must not be changed.
func (t Table[T]) At(index int) *T { return t.blocks[index/block][index%block] }

// All are the items, the oldest first.
func (t Table[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, b := range t.blocks {
			for _, item := range b {
				if !yield(item) {
					return
				}
			}
		}
	}
}

func (t Table[T]) with(item T) Table[T] {
	if t.size%block == 0 {
		t.blocks = append(slices.Clip(t.blocks), []*T{&item})
	} else {
		t.blocks = slices.Clone(t.blocks)
		last := len(t.blocks) - 1
		t.blocks[last] = append(slices.Clip(t.blocks[last]), &item)
	}
	t.size++
	return t
}

func (t Table[T]) replace(index int, item T) Table[T] {
	t.blocks = slices.Clone(t.blocks)
	b := slices.Clone(t.blocks[index/block])
	b[index%block] = &item
	t.blocks[index/block] = b
	return t
}
