//go:build unix

package engine

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ownGroup keeps signals that a terminal sends to this process's group away from cmd.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// processAlive reports whether a process runs under pid and, where the system tells names,
// whether it can be a Pulumi CLI: process ids are reused.
func processAlive(pid int) bool {
	if pid <= 0 || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	if state, err := os.ReadFile(filepath.Join(proc, "stat")); err == nil {
		// pid (name) state ...: Z is a process that has ended and was not waited for.
		if _, rest, ok := strings.Cut(string(state), ") "); ok && strings.HasPrefix(rest, "Z") {
			return false
		}
	}
	if args, err := os.ReadFile(filepath.Join(proc, "cmdline")); err == nil && len(args) > 0 {
		// The second is a flag of the Automation API, for a CLI under another name.
		return strings.Contains(string(args), "pulumi") || strings.Contains(string(args), "--exec-kind")
	}
	return true
}
