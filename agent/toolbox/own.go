package toolbox

import (
	"encoding/json"

	"bordereau/agent/model"
)

// own lists the agent's own tools. Their texts and schemas are held by a golden file: a changed word changes what models do.
func own() []model.Tool {
	return []model.Tool{
		{
			Name: "run",
			Description: "Run a bash script in the workspace's sandbox. It has Python with pandas, matplotlib and openpyxl, and the client `gov` for governed data: " +
				"`gov sql -f q.sql -o rows.csv|.parquet`, `gov describe`, `gov vin VIN…|--schedule FILE`, `gov extraction --submission ID`. There is no network. " +
				"Uploaded documents are in /workspace/documents; put files to deliver into /workspace/artifacts.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"script":{"type":"string","description":"bash; runs in /workspace","maxLength":100000},` +
				`"timeout_seconds":{"type":"integer","minimum":1,"maximum":1800,"description":"default 120"}},` +
				`"required":["script"],"additionalProperties":false}`),
		},
		{
			Name:        "read_file",
			Description: "Read a text file of the workspace, up to 256 KiB at once.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"path":{"type":"string","description":"below /workspace"},` +
				`"offset":{"type":"integer","minimum":0,"description":"in bytes, to go on in a long file"}},` +
				`"required":["path"],"additionalProperties":false}`),
		},
		{
			Name:        "write_file",
			Description: "Write a text file in the workspace; a file of that name is replaced.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"path":{"type":"string","description":"below /workspace; folders are made"},` +
				`"content":{"type":"string"}},` +
				`"required":["path","content"],"additionalProperties":false}`),
		},
		{
			Name:        "list_files",
			Description: "List a folder of the workspace.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"path":{"type":"string","description":"default /workspace"}},"additionalProperties":false}`),
		},
		{
			Name:        "publish_report",
			Description: "Render a reconciliation run to discrepancies.xlsx and discrepancies.pdf and deliver both. Answers the gravest findings too.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"run_id":{"type":"string","description":"as reconcile answered"},` +
				`"title":{"type":"string","maxLength":160}},` +
				`"required":["run_id"],"additionalProperties":false}`),
		},
		{
			Name:        "plan",
			Description: "Show the person your plan (at most 20 steps) before long work, and again, whole, when a step is done.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"steps":{"type":"array","items":` +
				`{"type":"object","properties":{"title":{"type":"string"},"state":{"enum":["todo","doing","done"]}},` +
				`"required":["title","state"],"additionalProperties":false}}},"required":["steps"],"additionalProperties":false}`),
		},
	}
}
