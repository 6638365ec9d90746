package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

const usage = `usage:
  sdkgen generate [-out DIR] [-data DIR]
  sdkgen update [-out DIR] [-data DIR] VERSION
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sdkgen:", err)
		os.Exit(1)
	}
}

// run carries out one command line and reports to out.
func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("no command\n" + usage)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	data := flags.String("data", "data", "folder of the inputs")
	dir := flags.String("out", "../../sdks", "folder that gets the modules")
	switch args[0] {
	case "generate":
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if flags.NArg() > 0 {
			return fmt.Errorf("generate takes no arguments, got %q", flags.Args())
		}
		return generate(folder(*data), *dir, out)
	case "update":
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if flags.NArg() != 1 {
			return fmt.Errorf("update takes one version, as in 2.92.3, got %q", flags.Args())
		}
		return update(ctx, folder(*data), *dir, flags.Arg(0), out)
	default:
		return fmt.Errorf("unknown command %q\n%s", args[0], usage)
	}
}
