package faults

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/internal/engine"
	"onedoor/sim"
	"onedoor/sim/core"
	"onedoor/tests/kit"
)

// mode is a way in which Azure fails an operation.
type mode struct {
	name string
	when sim.When
	code core.Code
	// next is what the next run does to a resource whose creation was struck.
	next string
}

var (
	refused    = mode{"refused", sim.BeforeStart, "InternalServerError", "create"}
	throttled  = mode{"throttled", sim.BeforeStart, core.TooManyRequests, "create"}
	failedLate = mode{"failed late", sim.AfterApply, "InternalServerError", "update"}
	answerLost = mode{"answer lost", sim.AnswerLost, "", "create"}
)

// plan says which operation is struck in which way, by URN.
type plan map[string]mode

// undisturbed brings a stack up, once for all tests of it.
func undisturbed(t *testing.T, stack string) *reference {
	t.Helper()
	r := references[stack]
	r.once.Do(func() {
		s := session(t, stack)
		s.UpAlone = false
		for range 2 { // the second reads back what Azure has added since
			if _, err := s.Up(context.Background()); err != nil {
				t.Log(err)
				return
			}
		}
		r.end, r.order = endOf(t, s), made(stateOf(t, s))
	})
	require.NotEmpty(t, r.end, "the undisturbed run failed")
	return r
}

// reference is what an undisturbed run comes to.
type reference struct {
	once  sync.Once
	end   end
	order []string // the resources of Azure and of the cluster, as they were made
}

var references = map[string]*reference{"dev": {}, "prod": {}}

// made lists what was made in Azure and in the cluster, in order.
func made(state checkpoint) []string {
	var urns []string
	for _, r := range state.Resources {
		typ, _ := r["type"].(string)
		if strings.HasPrefix(typ, "azure-native:") || strings.HasPrefix(typ, "kubernetes:") {
			urns = append(urns, r["urn"].(string))
		}
	}
	return urns
}

// firsts is the first resource of each type.
func firsts(urns []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(urns), func(urn string) bool {
		typ := typeOf(urn)
		defer func() { seen[typ] = true }()
		return seen[typ]
	})
}

func typeOf(urn string) string {
	typ := strings.Split(urn, "::")[2]
	return typ[strings.LastIndex(typ, "$")+1:]
}

func session(t testing.TB, stack string) *embedded.Session {
	s := kit.Session(t, stack, kit.StackFiles()[stack])
	s.UpAlone, s.ContinueOnError, s.Progress = true, true, nil
	return s
}

// strikes collects what faults have struck.
type strikes struct {
	mu   sync.Mutex
	urns map[string]bool
}

func (s *strikes) note(strike sim.Strike) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.urns[strike.URN] = true
}

// under runs an operation with a fault for each entry of the plan and returns those that
// were struck.
func under(t *testing.T, s *embedded.Session, p plan, method core.Method, operation func(context.Context) (*engine.Result, error)) (plan, *engine.Result, error) {
	t.Helper()
	seen := strikes{urns: map[string]bool{}}
	s.Prepare = func(cloud *sim.Cloud) {
		for urn, m := range p {
			cloud.Inject(sim.Fault{URN: urn, Method: method, When: m.when, Code: m.code, Struck: seen.note})
		}
	}
	defer func() { s.Prepare = nil }()
	result, err := operation(t.Context())
	require.NotNil(t, result, "the engine did not run: %v", err)
	struck := plan{}
	for urn := range seen.urns {
		struck[urn] = p[urn]
	}
	return struck, result, err
}

// carryOut brings a stack up, again and again, until each fault of the plan has struck. What
// does not depend on a failure goes on, so one run strikes many; what a run leaves is what the
// next one has to do, and nothing else.
func carryOut(t *testing.T, s *embedded.Session, p plan) {
	t.Helper()
	left, before := maps.Clone(p), plan{}
	for runs := 1; ; runs++ {
		require.Less(t, runs, 200)
		struck, result, err := under(t, s, left, core.Put, s.Up)
		var lost []string
		for urn, m := range before {
			if m == answerLost && !singletons[typeOf(urn)] {
				lost = append(lost, urn)
				continue
			}
			now, found := result.Find(urn)
			require.True(t, found, urn)
			assert.Equal(t, m.next, now.Op, "%s after it was %s", urn, m.name)
		}
		lost = append(lost, madeByAzure(err, struck, lost)...)
		t.Logf("run %d: %d struck, %d to take over, %d left", runs, len(struck), len(lost), len(left)-len(struck))
		if len(struck)+len(lost) == 0 {
			require.NoError(t, err)
			break
		}
		requireFailed(t, err, struck, lost)
		takeOver(t, s, err, lost)
		before = struck
		for urn := range struck {
			delete(left, urn)
		}
	}
	require.Empty(t, left, "never struck")
}

// singletons exist as long as their parent, and the fields that a patch owns as long as their
// object, so nobody minds that they exist.
var singletons = map[string]bool{
	"azure-native:storage/v20240101:BlobServiceProperties": true,
	"kubernetes:apps/v1:DeploymentPatch":                   true,
}

// byAzure is what Azure makes by itself when nobody has made it for a while, so that any
// failure may let it come first.
const byAzure = "azure-native:alertsmanagement/v20210401:SmartDetectorAlertRule"

// madeByAzure lists the resources of the program that Azure has made by itself.
func madeByAzure(err error, struck plan, lost []string) []string {
	var failure *engine.Failure
	if !errors.As(err, &failure) {
		return nil
	}
	var urns []string
	for _, d := range failure.Diagnostics {
		if _, other := struck[d.URN]; !other && d.URN != "" && typeOf(d.URN) == byAzure && !slices.Contains(lost, d.URN) {
			urns = append(urns, d.URN)
		}
	}
	return urns
}

// requireFailed says that a run failed for what was struck and what was met, and for nothing
// else.
func requireFailed(t *testing.T, err error, struck plan, met []string) {
	t.Helper()
	var failure *engine.Failure
	require.ErrorAs(t, err, &failure)
	require.Equal(t, engine.KindResource, failure.Kind)
	want, named := slices.Concat(slices.Collect(maps.Keys(struck)), met), map[string]bool{}
	for _, d := range failure.Diagnostics {
		if d.URN != "" {
			named[d.URN] = true
			require.Contains(t, want, d.URN, d.Message)
		}
	}
	require.ElementsMatch(t, want, slices.Collect(maps.Keys(named)), "each failure is told")
}

// command is the line of a message that says what to type, and words are what a shell makes
// of it.
var (
	command = regexp.MustCompile(`(?m)^\s*pulumi (import '.*)$`)
	words   = regexp.MustCompile(`'[^']*'|\S+`)
)

// takeOver types what the failure says of resources that exist already.
func takeOver(t *testing.T, s *embedded.Session, failed error, urns []string) {
	t.Helper()
	for _, urn := range urns {
		name := urn[strings.LastIndex(urn, ":")+1:]
		_, advice, found := strings.Cut(failed.Error(), " "+name+" exists already")
		require.True(t, found, "%s is in the way, and nobody says what to do: %v", urn, failed)
		line := command.FindStringSubmatch(advice)
		require.NotNil(t, line, advice)
		var args []string
		for _, word := range words.FindAllString(line[1], -1) {
			args = append(args, strings.Trim(word, "'"))
		}
		_, err := s.Pulumi(t.Context(), args...)
		require.NoError(t, err)
	}
}

// sample is one operation of each kind of failure that differs: what others wait for, what
// takes long, what Azure makes at once, what is in the cluster.
var sample = map[string]mode{
	"azure-native:resources/v20240301:ResourceGroup":                 answerLost,
	"azure-native:operationalinsights/v20230901:Workspace":           failedLate,
	"azure-native:managedidentity/v20230131:UserAssignedIdentity":    throttled,
	"azure-native:storage/v20240101:StorageAccount":                  answerLost,
	"azure-native:authorization/v20220401:RoleAssignment":            refused,
	"azure-native:cognitiveservices/v20241001:Account":               failedLate,
	"azure-native:containerservice/v20250101:ManagedCluster":         failedLate,
	"azure-native:apimanagement/v20240501:ApiManagementService":      refused,
	"kubernetes:core/v1:Namespace":                                   answerLost,
	"kubernetes:apps/v1:DaemonSet":                                   failedLate,
	"kubernetes:networking.k8s.io/v1:NetworkPolicy":                  refused,
	"azure-native:containerservice/v20250101:AgentPool":              throttled,
	"azure-native:alertsmanagement/v20210401:SmartDetectorAlertRule": answerLost,
}

// sampled are the operations of the sample.
func sampled(ref *reference) []string {
	return slices.DeleteFunc(firsts(ref.order), func(urn string) bool { _, ok := sample[typeOf(urn)]; return !ok })
}

// stacksOf are the stacks that a test of the matrix works on.
func stacksOf() []string {
	if full() {
		return []string{"dev", "prod"}
	}
	return []string{"dev"}
}

// The next run makes up for whatever an operation has suffered.
func TestTheNextUpdateMakesUpForFailures(t *testing.T) {
	t.Parallel()
	for _, stack := range stacksOf() {
		t.Run(stack, func(t *testing.T) {
			t.Parallel()
			ref := undisturbed(t, stack)
			p := plan{}
			for _, urn := range sampled(ref) {
				p[urn] = sample[typeOf(urn)]
			}
			s := session(t, stack)
			carryOut(t, s, p)
			requireSettled(t, s, ref)
		})
	}
}

// The full matrix: each operation, in each way; of answers that are lost one of each type,
// since what follows is typed by hand.
func TestEveryOperationMayFail(t *testing.T) {
	t.Parallel()
	if !full() {
		t.Skip("the full matrix takes long: set " + fullEnv + "=all")
	}
	all := func(ref *reference) []string { return ref.order }
	for _, stack := range stacksOf() {
		for name, c := range map[string]struct {
			modes []mode
			urns  func(*reference) []string
		}{
			"refused":     {[]mode{refused, throttled}, all},
			"failed late": {[]mode{failedLate}, all},
			"answer lost": {[]mode{answerLost}, func(ref *reference) []string { return firsts(ref.order) }},
		} {
			t.Run(stack+"/"+name, func(t *testing.T) {
				t.Parallel()
				ref := undisturbed(t, stack)
				p := plan{}
				for i, urn := range c.urns(ref) {
					if typeOf(urn) == byAzure {
						continue // comes by itself once what it watches was struck; the sample has it
					}
					p[urn] = c.modes[i%len(c.modes)]
				}
				s := session(t, stack)
				carryOut(t, s, p)
				requireSettled(t, s, ref)
			})
		}
	}
}

// requireSettled says that a stack is what the undisturbed run has made of it.
func requireSettled(t *testing.T, s *embedded.Session, ref *reference) {
	t.Helper()
	s.UpAlone = false
	up, err := s.Up(t.Context())
	require.NoError(t, err)
	assert.False(t, up.HasChanges(), "%v", up.Changes)
	assert.Empty(t, stateOf(t, s).Pending)
	requireSame(t, ref.end, endOf(t, s))
}
