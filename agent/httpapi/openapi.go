package httpapi

import (
	_ "embed" // the description
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"
	"gopkg.in/yaml.v3"
)

//go:embed openapi.yaml
var openapiYAML []byte

// description is the OpenAPI description as JSON, with what others serve beside the API. Tests hold it against routes and types.
func description(beside ...[]byte) ([]byte, error) {
	doc := map[string]any{}
	for _, text := range append([][]byte{openapiYAML}, beside...) {
		var part map[string]any
		if err := yaml.Unmarshal(text, &part); err != nil {
			return nil, fmt.Errorf("reading the OpenAPI description: %w", err)
		}
		if err := join(doc, part); err != nil {
			return nil, err
		}
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("writing the OpenAPI description: %w", err)
	}
	return raw, nil
}

// join adds what a part describes. Nothing is described twice.
func join(into, part map[string]any) error {
	for key, v := range part {
		have, taken := into[key]
		if !taken {
			into[key] = v
			continue
		}
		old, ok := have.(map[string]any)
		more, also := v.(map[string]any)
		if !ok || !also {
			return fmt.Errorf("the OpenAPI description has %s twice", key)
		}
		if err := join(old, more); err != nil {
			return fmt.Errorf("%w, in %s", err, key)
		}
	}
	return nil
}

func (a *API) openapi(c *gin.Context) error {
	c.Data(http.StatusOK, "application/json", a.doc)
	return nil
}
