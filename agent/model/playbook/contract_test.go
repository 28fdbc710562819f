package playbook_test

import (
	"encoding/json"
	"testing"

	"bordereau/agent/model"
	"bordereau/agent/model/modeltest"
	"bordereau/agent/model/playbook"
)

func TestContract(t *testing.T) {
	t.Parallel()
	question := func(text string, tools ...string) model.Request {
		r := model.Request{System: "You are a test.", MaxTokens: 1000, Messages: []model.Message{{Role: model.User, Blocks: []model.Block{{Kind: model.Text, Text: text}}}}}
		for _, name := range tools {
			r.Tools = append(r.Tools, model.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)})
		}
		return r
	}
	all := []string{"decode_vins", "describe_data", "get_extraction", "list_submissions", "reconcile", "sql", "run", "read_file", "write_file", "list_files", "publish_report"}
	modeltest.Contract(t, playbook.New(), question("List today's submissions", all...), question("Reconcile today against the guideline", all...),
		question("Hello", all...), question("Write a poem", all...), question("List today's submissions"))
}
