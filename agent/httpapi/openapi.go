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

// description is the OpenAPI description as JSON. A test holds it against the routes and the types.
func description() ([]byte, error) {
	var doc map[string]any
	if err := yaml.Unmarshal(openapiYAML, &doc); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI description: %w", err)
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("writing the OpenAPI description: %w", err)
	}
	return raw, nil
}

func (a *API) openapi(c *gin.Context) error {
	c.Data(http.StatusOK, "application/json", a.doc)
	return nil
}
