package docs

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"onedoor/stacks"
)

// entry is what there is to say about one key.
type entry struct {
	key     stacks.Key
	meaning string
	allowed string
	example string
}

// configuration is the reference of every key of a stack file.
func configuration(project string) ([]byte, error) {
	entries, err := describe(project)
	if err != nil {
		return nil, err
	}
	p := newPage("Configuration", "the structs and checks in `stacks/` and the two stack files")
	p.say("A stack file sets root keys below `config`, each as `onedoor:<root key>`. `%s` in a path is a name of your choice. What is allowed is what the checks answer to a value that is wrong; "+
		"everything wrong with a file is reported at once, with the command that mends it. How keys work together is said there too, with the figures of your own stack.", stacks.EntryName)
	for i := 0; i < len(entries); {
		root := entries[i]
		p.head("onedoor:" + root.key.Path)
		p.say("%s", plain(sentence(root.meaning)))
		if root.allowed != "" {
			p.say("Allowed: %s.", plain(root.allowed))
		}
		var rows [][]string
		for i++; i < len(entries) && entries[i].key.In != nil; i++ {
			e := entries[i]
			_, below, _ := strings.Cut(e.key.Path, ".")
			rows = append(rows, []string{code(below), typeWords(e.key.Type), code(e.key.Default), plain(e.allowed), code(e.example), plain(e.meaning)})
		}
		p.table([]string{"key", "type", "default", "allowed", "example", "meaning"}, rows)
	}
	return p.bytes(), nil
}

// sentence begins text with a capital and ends it with a period.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

// describe finds what there is to say about every key.
func describe(project string) ([]entry, error) {
	src := newSource(project)
	var samples []sample
	for _, stack := range []string{"prod", "dev"} { // prod has the fuller examples
		s, err := readSample(stack, filepath.Join(project, "Pulumi."+stack+".yaml"))
		if err != nil {
			return nil, err
		}
		samples = append(samples, s)
	}
	var out []entry
	for _, key := range stacks.Keys() {
		e := entry{key: key}
		var err error
		if e.meaning, err = meaning(src, key); err != nil {
			return nil, err
		}
		var fix string
		if e.allowed, fix, err = allowed(samples, key); err != nil {
			return nil, err
		}
		e.example = example(samples, key, fix, e.meaning)
		if values, err := src.of(key.Type); err == nil && e.example == "" && len(values.values) > 0 {
			e.example = values.values[0].text
		}
		out = append(out, e)
	}
	return out, nil
}

// meaning is the comment of a key's field, else of its type, and what the values of
// an enumeration mean.
func meaning(src *source, key stacks.Key) (string, error) {
	typ := key.Type
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	own, err := src.of(typ)
	if err != nil {
		return "", err
	}
	text := predicate(oneLine(own.doc), typ.Name())
	if key.In != nil {
		in, err := src.of(key.In)
		if err != nil {
			return "", err
		}
		if comment := in.fields[key.Field]; comment != "" {
			text = predicate(comment, key.Field)
		}
	}
	var values []string
	for _, v := range own.values {
		if v.doc != "" {
			values = append(values, code(v.text)+": "+v.doc)
		}
	}
	if len(values) > 0 {
		text = strings.TrimSuffix(text, ".") + ". " + strings.Join(values, "; ")
	}
	return text, nil
}

// predicate is a comment without the name that it begins with.
func predicate(comment, name string) string {
	for _, verb := range []string{"is", "are"} {
		if rest, found := strings.CutPrefix(comment, name+" "+verb+" "); found {
			comment = rest
		}
	}
	if root, rest, found := strings.Cut(comment, `": `); found && strings.HasPrefix(root, `the root key "`) {
		return rest
	}
	return comment
}

// allowed is what the checks demand of a key, and a value that would do. What only
// one sample meets, such as a limit that follows from its other keys, comes with its
// name.
func allowed(samples []sample, key stacks.Key) (text, example string, err error) {
	var all [][]refusal
	for _, s := range samples {
		found, err := s.refusals(key)
		if err != nil {
			return "", "", err
		}
		all = append(all, found)
	}
	var parts []string
	for i, found := range all {
		for _, r := range found {
			want, _, _ := strings.Cut(r.want, ", nearest is")
			want, _, _ = strings.Cut(want, "; nearest is")
			everywhere := true
			for _, other := range all {
				everywhere = everywhere && slices.ContainsFunc(other, func(o refusal) bool { return o.want == r.want })
			}
			if !everywhere {
				want = fmt.Sprintf("in %s %s", samples[i].stack, want)
			}
			if !slices.Contains(parts, want) {
				parts = append(parts, want)
			}
			if example == "" {
				example = r.example
			}
		}
	}
	return strings.Join(parts, "; "), example, nil
}

// quoted finds the example that a comment gives.
var quoted = regexp.MustCompile(`as in "([^"]+)"`)

// example is a value that the key may have: of a stack file, of a check, its default,
// its comment, or one of its type.
func example(samples []sample, key stacks.Key, fix, meaning string) string {
	if t := key.Type; t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct && t.Elem() != reflect.TypeFor[netip.Prefix]() || t.Kind() == reflect.Pointer || t.Kind() == reflect.Struct && !textual(t) {
		return "" // its keys have some
	}
	for _, s := range samples {
		if _, v, ok := s.at(key.Path); ok {
			return written(v)
		}
	}
	for _, text := range []string{fix, key.Default} {
		if text != "" {
			return text
		}
	}
	if found := quoted.FindStringSubmatch(meaning); found != nil {
		return found[1]
	}
	return typical(key.Type)
}

// written is a value as a stack file has it, in one line.
func written(v any) string {
	switch v := v.(type) {
	case string:
		if line, _, more := strings.Cut(v, "\n"); more {
			return line + " ..."
		}
		return v
	case []any, map[string]any:
		text, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(text)
	default:
		return fmt.Sprint(v)
	}
}

func textual(t reflect.Type) bool {
	return t == reflect.TypeFor[netip.Prefix]() || t == reflect.TypeFor[netip.Addr]()
}

// typical is a value of a type whose limits the other columns say.
func typical(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[netip.Prefix]():
		return "10.40.0.0/24"
	case t == reflect.TypeFor[netip.Addr]():
		return "10.0.0.4"
	case t == reflect.TypeFor[time.Duration]():
		return "20s"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true"
	case reflect.Int, reflect.Float64:
		return "0"
	case reflect.Slice:
		return "[" + typical(t.Elem()) + "]"
	case reflect.Map:
		return "{" + stacks.EntryName + ": " + typical(t.Elem()) + "}"
	default:
		return ""
	}
}

// typeWords is a type in words.
func typeWords(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[netip.Prefix]():
		return "address range"
	case t == reflect.TypeFor[netip.Addr]():
		return "address"
	case t == reflect.TypeFor[time.Duration]():
		return "duration"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeWords(t.Elem())
	case reflect.Int:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Slice:
		return "list of " + typeWords(t.Elem())
	case reflect.Map:
		return typeWords(t.Elem()) + " by name"
	default:
		return "keys"
	}
}
