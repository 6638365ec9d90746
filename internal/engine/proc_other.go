//go:build !unix

package engine

import (
	"os"
	"os/exec"
)

// ownGroup does nothing where processes have no groups.
func ownGroup(*exec.Cmd) {}

// processAlive reports whether a process runs under pid.
func processAlive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}
