package kqltest

import (
	"crypto/sha256"
	"encoding/hex"
)

// short is the first digits of the SHA-256 of text.
func short(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}
