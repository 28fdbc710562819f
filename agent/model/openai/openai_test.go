package openai_test

import (
	"testing"

	"bordereau/agent/model"
	"bordereau/agent/model/modeltest"
	"bordereau/agent/model/openai"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, func(url, key string) (model.Model, error) {
		return openai.New(openai.Config{Model: "gpt-test", URL: url + "/v1", Key: key, Price: model.Price{Input: 3_000_000, Output: 15_000_000}})
	})
}

func TestConfig(t *testing.T) {
	t.Parallel()
	if _, err := openai.New(openai.Config{Model: "m"}); err == nil {
		t.Error("the provider's own address without a key, no error")
	}
}
