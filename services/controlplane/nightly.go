package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"onedoor/internal/trust"
	"onedoor/services/controlplane/config"
)

// How often the service is asked, and how long it may take: reading the input of a
// large job takes minutes.
const (
	tries   = 5
	waiting = 10 * time.Second
	answers = 10 * time.Minute
)

// nightly asks the service to start the declared job of that name. Asking twice
// starts it once.
func nightly(ctx context.Context, name string, log *slog.Logger) int {
	told, err := config.ReadNightly(os.LookupEnv)
	if err != nil {
		log.Error("what the program was told is wrong", "error", err)
		return exitWrong
	}
	client, err := trust.Client(told.Authority)
	if err != nil {
		log.Error("what the program was told is wrong", "error", err)
		return exitWrong
	}
	for try := 1; ; try++ {
		code, err := ask(ctx, client, told, name)
		switch {
		case err == nil:
			log.Info("the nightly job is accepted", "name", name)
			return exitDone
		case code == exitWrong || try == tries || ctx.Err() != nil:
			log.Error("the nightly job was not accepted", "name", name, "error", err)
			return code
		}
		log.Warn("the service did not answer; it is asked again", "name", name, "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(waiting):
		}
	}
}

// ask asks once. The code says whether asking again may help.
func ask(ctx context.Context, client *http.Client, told config.Nightly, name string) (int, error) {
	token, err := os.ReadFile(told.TokenFile) // anew: it is renewed in place
	if err != nil {
		return exitFailed, err
	}
	ctx, cancel := context.WithTimeout(ctx, answers)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(told.URL, "/")+"/v1/nightly/"+url.PathEscape(name), nil)
	if err != nil {
		return exitWrong, err
	}
	request.Header.Set("Authorization", "Bearer "+string(bytes.TrimSpace(token)))
	response, err := client.Do(request)
	if err != nil {
		return exitFailed, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	switch {
	case response.StatusCode == http.StatusOK:
		return exitDone, nil
	case err != nil:
		return exitFailed, err
	}
	err = fmt.Errorf("%s: %s", response.Status, text)
	if response.StatusCode == http.StatusBadRequest || response.StatusCode == http.StatusForbidden || response.StatusCode == http.StatusNotFound {
		return exitWrong, err
	}
	return exitFailed, err
}
