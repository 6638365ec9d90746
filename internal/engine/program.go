package engine

import (
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

type programFunc = pulumi.RunFunc

// program runs the caller's program and keeps the error it returns: on its way through the
// engine it would become text.
type program struct {
	run pulumi.RunFunc

	mu  sync.Mutex
	err error
}

// Panic is the error of a program that panicked.
type Panic struct {
	Value any
	// Stack is the goroutine's stack, for a bug report.
	Stack string
}

// Error implements error.
func (p *Panic) Error() string { return fmt.Sprintf("the program panicked: %v", p.Value) }

// Unwrap returns the value if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

func (p *program) call(ctx *pulumi.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Panic{Value: v, Stack: string(debug.Stack())}
		}
		if err != nil {
			p.mu.Lock()
			p.err = err
			p.mu.Unlock()
		}
	}()
	return p.run(ctx)
}

// failure is what the program returned, or nil.
func (p *program) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
