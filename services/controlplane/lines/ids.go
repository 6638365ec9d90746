package lines

import (
	"encoding/binary"
	"hash/maphash"
)

// ID is a hash of a custom_id. Two ids of a file have the same one with a chance
// of less than one in 10^26 for a million lines.
type ID [16]byte

// Hasher makes the hashes of one process. The seed is random, so that nobody can
// make ids that collide.
type Hasher struct{ high, low maphash.Seed }

// NewHasher is a hasher with a seed of its own.
func NewHasher() Hasher { return Hasher{maphash.MakeSeed(), maphash.MakeSeed()} }

// Of is the hash of a custom_id.
func (h Hasher) Of(customID string) (id ID) {
	binary.LittleEndian.PutUint64(id[:8], maphash.String(h.high, customID))
	binary.LittleEndian.PutUint64(id[8:], maphash.String(h.low, customID))
	return id
}
