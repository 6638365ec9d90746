package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// stack is a stack of a project on disk.
type stack struct {
	dir  string // project directory
	name string
	file string // its configuration
}

const projectFile = "Pulumi.yaml"

// stackName is what Pulumi accepts as the name of a stack.
var stackName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,100}$`)

// findProject returns the nearest directory at or above dir that holds a
// Pulumi project.
func findProject(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, projectFile)); err == nil {
			return at, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if at == filepath.Dir(at) {
			return "", usageError{fmt.Errorf("no %s in %s or above it; run onedoor inside the project", projectFile, dir)}
		}
	}
}

// findStack resolves what --stack says, in the project of dir: the name of a
// stack whose file is Pulumi.<name>.yaml, or the path of any stack file.
func findStack(dir, word string) (stack, error) {
	project, err := findProject(dir)
	if err != nil {
		return stack{}, err
	}
	s := stack{dir: project, name: word, file: filepath.Join(project, "Pulumi."+word+".yaml")}
	if ext := filepath.Ext(word); ext == ".yaml" || ext == ".yml" {
		s.file = word
		if !filepath.IsAbs(word) {
			s.file = filepath.Join(dir, word)
		}
		s.name = strings.TrimPrefix(strings.TrimSuffix(filepath.Base(word), ext), "Pulumi.")
	}
	if own := filepath.Join(project, "Pulumi."+s.name+".yaml"); own != s.file {
		if _, err := os.Stat(own); err == nil && !sameFile(own, s.file) {
			return stack{}, usageError{fmt.Errorf("--stack: got %q, but the project has a stack %q of its own, whose state this would be; name the file otherwise", word, s.name)}
		}
	}
	if !stackName.MatchString(s.name) {
		return stack{}, usageError{fmt.Errorf("--stack: got %q, want a name of letters, digits, hyphens, underscores and periods, or the path of a stack file that ends in .yaml", word)}
	}
	if _, err := os.Stat(s.file); err != nil {
		return stack{}, usageError{fmt.Errorf("--stack: got %q, but there is no file %s; the project has %s", word, s.file, strings.Join(stacksOf(project), ", "))}
	}
	return s, nil
}

// sameFile tells whether both paths lead to one file.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// stacksOf are the names of the project's stacks.
func stacksOf(project string) []string {
	files, _ := filepath.Glob(filepath.Join(project, "Pulumi.*.yaml")) // the pattern is well formed
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "Pulumi."), ".yaml"))
	}
	slices.Sort(names)
	return names
}
