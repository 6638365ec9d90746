package main

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// What our pipelines for Azure DevOps use of its YAML schema. A key that is not here is
// refused: Azure DevOps has no linter that works without an organisation.
// https://learn.microsoft.com/azure/devops/pipelines/yaml-schema/
type (
	azurePipeline struct {
		Trigger    any              `yaml:"trigger"`
		PR         string           `yaml:"pr"`
		Schedules  []azureSchedule  `yaml:"schedules"`
		Parameters []azureParameter `yaml:"parameters"`
		Pool       any              `yaml:"pool"`
		Stages     []azureStage     `yaml:"stages"`
		Jobs       []azureJob       `yaml:"jobs"`
	}
	azureSchedule struct {
		Cron        string              `yaml:"cron"`
		DisplayName string              `yaml:"displayName"`
		Branches    map[string][]string `yaml:"branches"`
		Always      bool                `yaml:"always"`
	}
	azureParameter struct {
		Name    string    `yaml:"name"`
		Type    string    `yaml:"type"`
		Default yaml.Node `yaml:"default"`
	}
	azureStage struct {
		Stage        string     `yaml:"stage"`
		DependsOn    []string   `yaml:"dependsOn"`
		Condition    string     `yaml:"condition"`
		LockBehavior string     `yaml:"lockBehavior"`
		Jobs         []azureJob `yaml:"jobs"`
	}
	azureJob struct {
		Job         string      `yaml:"job"`
		Deployment  string      `yaml:"deployment"`
		DisplayName string      `yaml:"displayName"`
		DependsOn   []string    `yaml:"dependsOn"`
		Condition   string      `yaml:"condition"`
		Environment string      `yaml:"environment"`
		Pool        any         `yaml:"pool"`
		Timeout     int         `yaml:"timeoutInMinutes"`
		Variables   yaml.Node   `yaml:"variables"`
		Steps       []azureStep `yaml:"steps"`
		Strategy    struct {
			RunOnce struct {
				Deploy struct {
					Steps []azureStep `yaml:"steps"`
				} `yaml:"deploy"`
			} `yaml:"runOnce"`
		} `yaml:"strategy"`
	}
	azureStep struct {
		Checkout string `yaml:"checkout"`
		Task     string `yaml:"task"`
		Bash     string `yaml:"bash"`
		Publish  string `yaml:"publish"`

		FetchDepth         *int              `yaml:"fetchDepth"`
		PersistCredentials *bool             `yaml:"persistCredentials"`
		Inputs             map[string]string `yaml:"inputs"`
		Artifact           string            `yaml:"artifact"`
		DisplayName        string            `yaml:"displayName"`
		Condition          string            `yaml:"condition"`
		ContinueOnError    bool              `yaml:"continueOnError"`
		Env                map[string]string `yaml:"env"`
	}
)

// azureTasks are the inputs of the tasks that we call; those of which the task does
// nothing without them are marked "!".
// https://learn.microsoft.com/azure/devops/pipelines/tasks/reference/
var azureTasks = map[string][]string{
	"AzureCLI@2":                 {"!azureSubscription", "!scriptType", "!scriptLocation", "!inlineScript", "addSpnToEnvironment"},
	"Cache@2":                    {"!key", "!path"},
	"DownloadPipelineArtifact@2": {"buildType", "project", "definition", "runVersion", "allowPartiallySucceededBuilds", "allowFailedBuilds", "!artifactName", "!targetPath"},
	"GoTool@0":                   {"!version"},
	"PublishTestResults@2":       {"!testResultsFormat", "!testResultsFiles", "testRunTitle"},
}

// azureFunctions are the functions of conditions that we call, with how many arguments
// they take.
// https://learn.microsoft.com/azure/devops/pipelines/process/expressions
var azureFunctions = map[string]int{"and": 2, "ne": 2, "succeededOrFailed": 0}

// azureVariables are predefined, or of the variable groups that docs/pull-requests.md
// names.
// https://learn.microsoft.com/azure/devops/pipelines/build/variables
var azureVariables = []string{
	"Agent.OS", "HOME", "Pipeline.Workspace", "System.AccessToken", "System.DefinitionId", "System.PullRequest.IsFork",
	"System.PullRequest.TargetBranch", "System.TeamProjectId", "AZURE_SERVICE_CONNECTION",
}

var (
	azureName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	azureEach  = regexp.MustCompile(`^\$\{\{ each (\w+) in parameters\.(\w+) \}\}$`)
	azureValue = regexp.MustCompile(`\$\{\{ ([\w.]+) \}\}`)
	azureMacro = regexp.MustCompile(`\$\(([A-Za-z][\w.]*)\)`)
)

// expandAzure does what Azure does before it reads a pipeline: it repeats what stands
// in "each" for every value of a parameter, and puts values in.
func expandAzure(text []byte) (p azurePipeline, err error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return p, err
	}
	var head struct {
		Parameters []azureParameter `yaml:"parameters"`
	}
	if err := root.Decode(&head); err != nil {
		return p, err
	}
	parameters := map[string]yaml.Node{}
	for _, parameter := range head.Parameters {
		parameters[parameter.Name] = parameter.Default
	}
	var faults []error
	var expand func(n yaml.Node, bound map[string]yaml.Node) []*yaml.Node
	expand = func(n yaml.Node, bound map[string]yaml.Node) []*yaml.Node {
		if n.Kind == yaml.MappingNode && len(n.Content) == 2 {
			if each := azureEach.FindStringSubmatch(n.Content[0].Value); each != nil {
				var out []*yaml.Node
				list := parameters[each[2]]
				if len(list.Content) == 0 {
					faults = append(faults, fmt.Errorf("%s: no such parameter, or an empty one", n.Content[0].Value))
				}
				for _, value := range list.Content {
					for _, item := range n.Content[1].Content {
						out = append(out, expand(*item, map[string]yaml.Node{each[1]: *value})...)
					}
				}
				return out
			}
		}
		n.Value = azureValue.ReplaceAllStringFunc(n.Value, func(expression string) string {
			name, member, _ := strings.Cut(azureValue.FindStringSubmatch(expression)[1], ".")
			value, known := bound[name]
			var plain any
			if err := value.Decode(&plain); member != "" && err == nil {
				object, _ := plain.(map[string]any)
				plain = object[member]
			}
			if !known || plain == nil {
				faults = append(faults, fmt.Errorf("%s: nothing is bound to it", expression))
			}
			return fmt.Sprint(plain)
		})
		content := n.Content
		n.Content = nil
		for _, child := range content {
			n.Content = append(n.Content, expand(*child, bound)...)
		}
		return []*yaml.Node{&n}
	}
	flat, err := yaml.Marshal(expand(*root.Content[0], nil)[0])
	if err = errors.Join(append(faults, err)...); err != nil {
		return p, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(flat))
	decoder.KnownFields(true)
	return p, decoder.Decode(&p)
}

// azureLint finds what Azure DevOps would refuse in a pipeline, or take for nothing.
type azureLint struct {
	faults    []string
	published []string // artifacts
	wanted    []string // artifacts
}

func lintAzure(text []byte) []string {
	p, err := expandAzure(text)
	if err != nil {
		return []string{err.Error()}
	}
	l := &azureLint{}
	if (len(p.Stages) > 0) == (len(p.Jobs) > 0) {
		l.bad("want either stages or jobs")
	}
	if p.Trigger == nil {
		l.bad("trigger: says nothing, so every push runs it")
	}
	var stages []string
	for _, s := range p.Stages {
		l.named("stage", s.Stage, stages)
		l.follows("stage "+s.Stage, s.DependsOn, stages)
		l.condition(s.Condition)
		stages = append(stages, s.Stage)
		l.jobs(s.Jobs, p.Pool)
	}
	l.jobs(p.Jobs, p.Pool)
	for _, artifact := range l.wanted {
		if !slices.Contains(l.published, artifact) {
			l.bad("artifact %s: nothing publishes it", artifact)
		}
	}
	return l.faults
}

func (l *azureLint) bad(format string, args ...any) {
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

func (l *azureLint) named(what, name string, before []string) {
	if !azureName.MatchString(name) {
		l.bad("%s %q: want letters, digits and underscores", what, name)
	}
	if slices.Contains(before, name) {
		l.bad("%s %s: twice", what, name)
	}
}

func (l *azureLint) follows(what string, after, before []string) {
	for _, name := range after {
		if !slices.Contains(before, name) {
			l.bad("%s: dependsOn %q, which does not stand before it", what, name)
		}
	}
}

func (l *azureLint) jobs(jobs []azureJob, pool any) {
	var before []string
	for _, j := range jobs {
		name := j.Job + j.Deployment
		if (j.Job == "") == (j.Deployment == "") {
			l.bad("job %q: want either job or deployment", name)
		}
		l.named("job", name, before)
		l.follows("job "+name, j.DependsOn, before)
		l.condition(j.Condition)
		before = append(before, name)
		steps := j.Steps
		if j.Deployment != "" {
			if steps = j.Strategy.RunOnce.Deploy.Steps; j.Environment == "" || len(j.Steps) > 0 {
				l.bad("deployment %s: want an environment, and steps in a strategy", name)
			}
		}
		if len(steps) == 0 || j.Timeout == 0 || j.Pool == nil && pool == nil {
			l.bad("job %s: want steps, timeoutInMinutes and a pool", name)
		}
		known := append(slices.Clone(azureVariables), azureNames(j.Variables)...)
		for _, s := range steps {
			l.step(name, s, known)
		}
	}
}

// azureNames are the names of a job's variables, which are an object or a list.
func azureNames(variables yaml.Node) []string {
	var out []string
	for i, child := range variables.Content {
		switch {
		case variables.Kind == yaml.MappingNode && i%2 == 0:
			out = append(out, child.Value)
		case variables.Kind == yaml.SequenceNode:
			var item struct{ Name string }
			if child.Decode(&item) == nil && item.Name != "" {
				out = append(out, item.Name)
			}
		}
	}
	return out
}

func (l *azureLint) step(job string, s azureStep, known []string) {
	kinds := 0
	for _, kind := range []string{s.Checkout, s.Task, s.Bash, s.Publish} {
		if kind != "" {
			kinds++
		}
	}
	if kinds != 1 {
		l.bad("job %s: a step of %d kinds, want one of checkout, task, bash, publish", job, kinds)
	}
	if (s.Publish == "") != (s.Artifact == "") {
		l.bad("job %s: publish and artifact belong together", job)
	}
	l.condition(s.Condition)
	inputs, exists := azureTasks[s.Task]
	if s.Task != "" && !exists {
		l.bad("job %s: no task %s", job, s.Task)
	}
	for _, input := range inputs {
		if name, required := strings.CutPrefix(input, "!"); required && s.Inputs[name] == "" {
			l.bad("job %s: %s without %s", job, s.Task, name)
		}
	}
	texts := []string{s.Bash, s.Publish, s.Artifact}
	for name, value := range s.Inputs {
		if texts = append(texts, value); !slices.Contains(inputs, name) && !slices.Contains(inputs, "!"+name) {
			l.bad("job %s: %s takes no %s", job, s.Task, name)
		}
	}
	for _, value := range s.Env {
		texts = append(texts, value)
	}
	for _, text := range texts {
		for _, macro := range azureMacro.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(known, macro[1]) {
				l.bad("job %s: $(%s) is no variable", job, macro[1])
			}
		}
	}
	if s.Artifact != "" {
		l.published = append(l.published, s.Artifact)
	}
	if artifact := s.Inputs["artifactName"]; artifact != "" {
		l.wanted = append(l.wanted, artifact)
	}
}

// condition parses an expression: its grammar is that of GitHub's, with functions of
// its own.
func (l *azureLint) condition(text string) {
	if text == "" {
		return
	}
	parsed, err := actionlint.NewExprParser().Parse(actionlint.NewExprLexer(text + "}}"))
	if err != nil {
		l.bad("condition %q: %s", text, err.Message)
		return
	}
	actionlint.VisitExprNode(parsed, func(n, _ actionlint.ExprNode, entering bool) {
		switch n := n.(type) {
		case *actionlint.FuncCallNode:
			if takes, known := azureFunctions[n.Callee]; entering && (!known || takes != len(n.Args)) {
				l.bad("condition %q: no function %s of %d", text, n.Callee, len(n.Args))
			}
		case *actionlint.IndexAccessNode:
			if index, is := n.Index.(*actionlint.StringNode); entering && (!is || !slices.Contains(azureVariables, index.Value)) {
				l.bad("condition %q: no such variable", text)
			}
		}
	})
}

func TestAzurePipelinesAreLinted(t *testing.T) {
	t.Parallel()
	linted := 0
	for path, text := range pipelines(t) {
		if strings.HasPrefix(path, "azure-pipelines/") {
			assert.Empty(t, lintAzure(text), path)
			linted++
		}
	}
	assert.Equal(t, 3, linted)
}

// A linter that finds nothing may look at nothing.
func TestTheLinterOfAzurePipelinesFindsMistakes(t *testing.T) {
	t.Parallel()
	all := pipelines(t)
	for name, c := range map[string]struct{ file, old, new, want string }{
		"a key that is no key":           {"drift", "timeoutInMinutes:", "timeout:", "field timeout not found"},
		"a type that is none":            {"drift", "timeoutInMinutes: 60", "timeoutInMinutes: soon", "cannot unmarshal"},
		"a parameter that is not there":  {"drift", "in parameters.stacks", "in parameters.stack", "no such parameter"},
		"a value that is not bound":      {"deploy", "${{ stack.pool }}", "${{ stack.pools }}", "nothing is bound"},
		"a name that Azure refuses":      {"drift", "job: drift_${{ stack.name }}", "job: drift-${{ stack.name }}", `job "drift-dev"`},
		"jobs of one name":               {"drift", "job: drift_${{ stack.name }}", "job: drift", "job drift: twice"},
		"a stage after one that is not":  {"deploy", "lockBehavior: sequential", "dependsOn: [test]", `dependsOn "test"`},
		"a task that is none":            {"drift", "GoTool@0", "GoTools@0", "no task GoTools@0"},
		"an input that is none":          {"drift", "scriptType: bash", "scriptTypes: bash", "takes no scriptTypes"},
		"an input that is left out":      {"drift", "scriptType: bash", "addSpnToEnvironments: true", "without scriptType"},
		"a step of two kinds":            {"pull-request", "publish: out/${{ stack }}", "publish: out/${{ stack }}\n            bash: echo", "of 2 kinds"},
		"a function that is none":        {"pull-request", "and(succeededOrFailed(), ", "and(succeeded(), ", "no function succeeded"},
		"a function with too few":        {"pull-request", "and(succeededOrFailed(), ne", "and(ne", "no function and of 1"},
		"a condition that does not end":  {"pull-request", "'True'))", "'True')", "condition"},
		"a variable of a condition":      {"pull-request", "System.PullRequest.IsFork", "System.PullRequest.Fork", "no such variable"},
		"a variable that is none":        {"drift", "$(System.TeamProjectId)", "$(System.TeamProject.Id)", "$(System.TeamProject.Id) is no variable"},
		"an artifact of nobody":          {"drift", "artifact: drift-${{ stack.name }}", "artifact: drifts-${{ stack.name }}", "artifact drift-dev: nothing publishes it"},
		"a deployment of no environment": {"deploy", "environment: onedoor-${{ stack.name }} ", "displayName: x ", "already defined"},
		"no trigger said":                {"drift", "trigger: none\n", "", "every push runs it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := string(all["azure-pipelines/"+c.file+".yaml"])
			require.Equal(t, 1, strings.Count(text, c.old), c.old)
			faults := strings.Join(lintAzure([]byte(strings.Replace(text, c.old, c.new, 1))), "\n")
			assert.Contains(t, faults, c.want)
		})
	}
}
