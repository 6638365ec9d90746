package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"onedoor/cmd/embedded"
	"onedoor/internal/az"
	"onedoor/internal/policypack/results"
	reporting "onedoor/internal/report"
	"onedoor/internal/verify"
)

// verifyFlags are what verify takes.
type verifyFlags struct {
	planFlags
	known               []string // object ids
	image               string   // of the Jobs; "" tries nothing
	kubeconfig, context string   // "" for those of kubectl
	out                 string
	at                  string // RFC 3339
}

// verify asks Azure who can reach a model, and tries what must be refused.
func (at screen) verify() *cobra.Command { return at.verifyAsking(realAzure()) }

func (at screen) verifyAsking(a asked) *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify",
		Short: "Prove, after an update, that nobody reaches a model but through its door",
		Long: "verify asks real Azure who can in effect call a model, submit batch jobs or list keys, at each\n" +
			"model account and above it, and compares that with the plan. With --probe-image it also\n" +
			"tries, with Jobs in the cluster, the connections that must be refused. It changes nothing\n" +
			"in Azure, and deletes its Jobs. It writes verify.json and verify.oscal.json.\n\n" +
			"Exit code: 0 when all is well, 1 when something is wrong, 2 when not everything could be\n" +
			"checked, as without a login. docs/verify.md explains each code.",
		Example: "  onedoor verify --stack prod --probe-image registry.example.com/curl:8\n  onedoor verify --plan out/prod/preview.json --known 00000000-0000-0000-0000-000000000000 --json",
		RunE: func(c *cobra.Command, _ []string) error {
			result, files, err := at.runVerify(c, f, a)
			if err != nil {
				return incomplete{err}
			}
			if f.json {
				return errors.Join(ended(result.Report), embedded.Encode(at.stdout, result))
			}
			result.Print(at.stdout)
			for _, file := range files {
				fmt.Fprintln(at.stdout, "  "+relative(at.dir, file))
			}
			return ended(result.Report)
		},
	}
	f.add(c)
	c.Flags().StringSliceVar(&f.known, "known", nil, "object id of somebody who is answered for, as whoever deploys; as often as needed")
	c.Flags().StringVar(&f.image, "probe-image", "", "image with curl, from a registry that the cluster admits (default: no ways are tried)")
	c.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "file with the cluster's address (default: as kubectl)")
	c.Flags().StringVar(&f.context, "context", "", "context in it (default: the current one)")
	c.Flags().StringVar(&f.out, "out", "", "directory for the evidence (default: out in the project, or where onedoor was called)")
	c.Flags().StringVar(&f.at, "at", "", "when it was verified, as 2026-11-29T12:00:00Z (default: now); OSCAL demands it")
	return c
}

// check returns when it was verified, or all mistakes in the flags.
func (f verifyFlags) check() (time.Time, error) {
	var mistakes []error
	collected := time.Now()
	if f.at != "" {
		var err error
		if collected, err = time.Parse(time.RFC3339, f.at); err != nil {
			mistakes = append(mistakes, fmt.Errorf("--at: got %q, want a time as 2026-11-29T12:00:00Z", f.at))
		}
	}
	for _, id := range f.known {
		if !az.IsGUID(id) {
			mistakes = append(mistakes, fmt.Errorf("--known: got %q, want the object id of a principal, which is a GUID", id))
		}
	}
	if len(mistakes) > 0 {
		return time.Time{}, usageError{errors.Join(mistakes...)}
	}
	return collected, nil
}

// runVerify verifies and writes the evidence.
func (at screen) runVerify(c *cobra.Command, f verifyFlags, a asked) (verify.Result, []string, error) {
	collected, err := f.check()
	if err != nil {
		return verify.Result{}, nil, err
	}
	plan, err := at.livePlanOf(c, f.planFlags)
	if err != nil {
		return verify.Result{}, nil, err
	}
	design, err := verify.DesignOf(plan.stack, plan.resources)
	if err != nil {
		return verify.Result{}, nil, err
	}
	options := verify.Options{Audience: a.audience, Known: f.known, Progress: at.stderr}
	if options.Azure, err = a.azure(design.Subscription); err != nil {
		return verify.Result{}, nil, err
	}
	if f.image != "" {
		if options.Prober, err = jobs(f); err != nil {
			return verify.Result{}, nil, err
		}
	}
	fmt.Fprintf(at.stderr, "Reading Azure subscription %s. Nothing is changed there.\n", design.Subscription)
	result := verify.Run(c.Context(), design, options)
	files, err := at.writeEvidence(f, plan, result.Evidence(design), collected)
	return result, files, err
}

// jobs tries ways with Jobs, in the cluster that kubectl would speak to.
func jobs(f verifyFlags) (verify.Prober, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: f.context}).ClientConfig()
	if err != nil {
		return nil, usageError{fmt.Errorf("--kubeconfig: %w; az aks get-credentials writes one", err)}
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	return verify.Jobs{Client: client, Image: f.image}, nil
}

// writeEvidence writes what was judged, once for other reports and once as OSCAL.
func (at screen) writeEvidence(f verifyFlags, plan livePlan, run results.Run, collected time.Time) ([]string, error) {
	subject, err := subjectOf(plan)
	if err != nil {
		return nil, err
	}
	document, err := results.Make(subject, []results.Run{run}, nil)
	if err != nil {
		return nil, err
	}
	var catalog reporting.Catalog
	for _, code := range verify.Codes {
		catalog = append(catalog, reporting.Rule{ID: code.ID, Pack: verify.Pack, Title: code.Title, Rationale: code.Why, Remedy: code.Remedy, Page: code.Page})
	}
	oscal, err := reporting.OSCAL(document, catalog, collected)
	if err != nil {
		return nil, err
	}
	var record bytes.Buffer
	if err := embedded.Encode(&record, document); err != nil {
		return nil, err
	}
	out := filepath.Join(plan.dir, "out")
	switch {
	case f.out != "":
		out = at.path(f.out)
	case plan.dir == "":
		out = filepath.Join(at.dir, "out")
	}
	files := []string{filepath.Join(out, plan.stack, "verify.json"), filepath.Join(out, plan.stack, "verify.oscal.json")}
	return files, writeFiles(map[string][]byte{files[0]: record.Bytes(), files[1]: oscal})
}

// subjectOf is what was verified: live Azure, against this plan.
func subjectOf(plan livePlan) (results.Subject, error) {
	raw, err := json.Marshal(plan.resources)
	if err != nil {
		return results.Subject{}, err
	}
	sum := func(b []byte) string {
		s := sha256.Sum256(b)
		return hex.EncodeToString(s[:])
	}
	subject := results.Subject{Project: "onedoor", Stack: plan.stack, PlanSHA256: sum(raw)}
	if plan.dir == "" {
		return subject, nil
	}
	config, err := os.ReadFile(plan.file)
	subject.ConfigSHA256 = sum(config)
	subject.Commit, subject.Dirty = embedded.Commit(plan.dir)
	return subject, err
}
