package policypack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"onedoor/internal/pluginhost"
	"onedoor/internal/policypack/results"
)

// prefix of the names under which one executable holds several packs.
const prefix = "onedoor-policy-"

// Executable is the name under which an executable that calls Main is the pack.
func (p Pack) Executable() string { return prefix + p.Name }

// Main makes this process the pack that its name asks for, and ends it; it
// returns if the name asks for none of packs. A main function that holds packs
// beside other things calls it first.
func Main(packs ...func() Pack) {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if !strings.HasPrefix(name, prefix) {
		return
	}
	for _, make := range packs {
		if pack := make(); name == pack.Executable() {
			Run(pack)
		}
	}
	fmt.Fprintf(os.Stderr, "%s: this executable holds no such policy pack\n", name)
	os.Exit(1)
}

// Run makes this process the pack until its engine is gone, and ends it.
func Run(pack Pack) {
	// The engine asks one thing after another: a second thread would only be woken and put to
	// sleep again, which is a quarter of the work. Almost all that is read is kept, so that
	// looking for garbage early finds little.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(200)
	server, err := NewServer(pack, os.Getenv(results.EnvDir))
	if err == nil {
		err = Serve(server, os.Args[1:], os.Stdout)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "policy pack %s: %v\n", pack.Name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Serve answers the engine, whose address is the last argument.
func Serve(analyzer pulumirpc.AnalyzerServer, args []string, stdout io.Writer) error {
	engine := ""
	if len(args) > 0 && strings.Contains(args[len(args)-1], ":") {
		engine = args[len(args)-1]
	}
	return pluginhost.Serve(engine, 5*time.Second, func(s *grpc.Server) {
		pulumirpc.RegisterAnalyzerServer(s, analyzer)
	}, stdout)
}

// fileSHA256 names the executable in the results.
func fileSHA256(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
