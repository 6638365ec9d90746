package shown

import (
	"os"
	"slices"
	"strings"
)

// Kind is a sort of commands. One test runs those of a kind, as they are printed but for
// the words that it says it replaces, and says which it can only parse.
type Kind string

// The kinds, with the test that runs each.
const (
	Offline Kind = "offline" // calls of onedoor that need nothing else: TestCommandsWorkAsPrinted
	Intake  Kind = "intake"  // calls of onedoor that post to a control plane: TestPostsWorkAsPrinted
	Pulumi  Kind = "pulumi"  // TestPulumiWorksAsPrinted
	Gateway Kind = "gateway" // calls of the gateway: TestCallsOfTheGatewayAreServed
	Image   Kind = "image"   // builds of images: TestImagesAreBuiltAsPrinted
	Compare Kind = "compare" // calls of onedoor over a base, in cmd/onedoor: TestComparisonsWorkAsPrinted
	Azure   Kind = "azure"   // calls of onedoor that ask Azure, in cmd/onedoor: TestQuestionsToAzureWorkAsPrinted
	Source  Kind = "source"  // calls of onedoor that read its source, in cmd/onedoor: TestDocsWorksAsPrinted
	Forge   Kind = "forge"   // calls of onedoor that comment, in cmd/onedoor: TestCommentsWorkAsPrinted
	Nothing Kind = "nothing" // what no test can run: NotRun has the reasons
)

// AllEnv makes the tests of the kinds run, when its value is "all", what takes minutes,
// too; otherwise they parse it.
const AllEnv = "ONEDOOR_DOCS"

// All is whether AllEnv says so.
func All() bool { return os.Getenv(AllEnv) == "all" }

// NotRun are the starts of commands that no test can run, with the reason. The words of
// az are those of the published Azure CLI 2.45.0, read by hand.
var NotRun = []struct{ Start, Why string }{
	{"az acr login ", "exchanges a login at Azure for a token of a registry; nothing here can give either"},
	{"az account get-access-token ", "is the caller's login at Azure; the test of the gateway takes the audience that it names"},
	{"go test ", "runs tests"},
	{"source ", "part of a shell's own start; what it reads is a command by itself"},
}

// KindOf is the kind of a command, "" for one that nobody has thought of.
func KindOf(c Command) Kind {
	line := strings.Join(c.Words, " ") + " "
	for _, n := range NotRun {
		if strings.HasPrefix(line, n.Start) {
			return Nothing
		}
	}
	words := Onedoor(c.Words)
	switch {
	case c.Words[0] == "pulumi":
		return Pulumi
	case c.Words[0] == "curl":
		return Gateway
	case strings.HasPrefix(line, "go run github.com/google/ko@"):
		return Image
	case len(words) == 0:
		return ""
	case slices.Contains(words, "--base") && words[0] == "preview":
		return Compare
	}
	switch words[0] {
	case "enqueue":
		return Intake
	case "preflight", "verify":
		return Azure
	case "docs":
		return Source
	case "comment":
		return Forge
	}
	return Offline
}

// Of are the commands of a kind on all pages below root, each once, in their order.
func Of(root string, kind Kind) ([]Command, error) {
	pages, err := Pages(root)
	if err != nil {
		return nil, err
	}
	var out []Command
	seen := map[string]bool{}
	for _, page := range pages {
		found, err := Commands(root, page)
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			words := c.Words
			if called := Onedoor(words); called != nil {
				words = called
			}
			line := strings.Join(words, "\x00")
			if KindOf(c) == kind && !seen[line] {
				seen[line] = true
				out = append(out, c)
			}
		}
	}
	return out, nil
}
