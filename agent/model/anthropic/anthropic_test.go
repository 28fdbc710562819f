package anthropic_test

import (
	"testing"

	"bordereau/agent/model"
	"bordereau/agent/model/anthropic"
	"bordereau/agent/model/modeltest"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, func(url, key string) (model.Model, error) {
		return anthropic.New(anthropic.Config{Model: "claude-test", URL: url, Key: key, Thinking: 1024, Price: model.Price{Input: 3_000_000, Output: 15_000_000}})
	})
}

func TestConfig(t *testing.T) {
	t.Parallel()
	if _, err := anthropic.New(anthropic.Config{Model: "m"}); err == nil {
		t.Error("no key, no error")
	}
}
