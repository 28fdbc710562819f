package console

import _ "embed" // the description

//go:embed openapi.yaml
var description []byte

// Description is the OpenAPI description of the endpoints, as YAML with paths and components.
func Description() []byte { return description }
