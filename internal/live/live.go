// Package live asks Azure for what it made of a resource, by plain names. An output
// of the resource would do at the first update, but the provider does not know it in
// the preview of any later one: a new tag would show everything that reads it as
// changed, and what cannot change in place as replaced.
package live

import (
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Answer is what a function of azure-native answers. It is unknown before the
// resource exists.
type Answer struct {
	output pulumi.MapOutput
	what   string
}

// Ask calls a function about of, with plain arguments. parent gives the provider.
func Ask(ctx *pulumi.Context, function string, args map[string]any, of, parent pulumi.Resource) Answer {
	output := ctx.InvokeOutput(function, args, pulumi.MapOutput{}, pulumi.InvokeOutputOptions{InvokeOptions: []pulumi.InvokeOption{
		pulumi.Parent(parent), pulumi.DependsOn([]pulumi.Resource{of}),
	}}).(pulumi.MapOutput)
	return Answer{output, function[strings.LastIndex(function, ":")+1:]}
}

// Text is the text at a path of keys. That there is none is an error: a role for
// nobody would be worse.
func (a Answer) Text(path ...string) pulumi.StringOutput {
	return a.output.ApplyT(func(answer map[string]any) (string, error) {
		var v any = answer
		for _, key := range path {
			object, _ := v.(map[string]any)
			v = object[key]
		}
		text, _ := v.(string)
		if text == "" {
			return "", fmt.Errorf("%s: no %s in what Azure answered", a.what, strings.Join(path, "."))
		}
		return text, nil
	}).(pulumi.StringOutput)
}

// Map is the whole answer.
func (a Answer) Map() pulumi.MapOutput { return a.output }
