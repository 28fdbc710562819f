package hosted

import (
	"context"
	"encoding/json"
	"net/http"

	"bordereau/sandbox"
)

// Call sends a control request and reads its answer into out when it succeeded. id is the sandbox that a 404 confirms to be absent.
func (c *Client) Call(ctx context.Context, method, url, id string, in, out any) (int, error) {
	a, err := c.JSON(ctx, method, url, in, nil)
	if err != nil {
		return 0, err
	}
	if a.Status/100 != 2 {
		return a.Status, failure(a, id)
	}
	if out != nil {
		if err := json.Unmarshal(a.Body, out); err != nil {
			return a.Status, sandbox.Unavailable(err, "the service's answer can't be read")
		}
	}
	return a.Status, nil
}

// failure is what an answer of a control API that is no success means. 404 is the only one that confirms an absence.
func failure(a Answer, id string) error {
	var e struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(a.Body, &e)
	switch a.Status {
	case http.StatusNotFound:
		return sandbox.NotFound(id)
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return sandbox.Invalid("the service refused the request: %s", e.Message)
	case http.StatusUnauthorized, http.StatusForbidden:
		return &sandbox.Fault{Kind: sandbox.ErrUnavailable, Text: "the service refused the key: " + e.Message, Hint: "check the API key"}
	}
	return sandbox.Unavailable(nil, "the service answered %d: %s", a.Status, e.Message)
}
