package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/identity"
)

// Key is what is known of an API key.
type Key struct {
	ID      string     `json:"id"`
	Person  string     `json:"person"`
	Label   string     `json:"label"`
	Scopes  []string   `json:"scopes"`
	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires,omitempty"` // absent: never
	Revoked *time.Time `json:"revoked,omitempty"`
	Used    *time.Time `json:"used,omitempty"` // to the minute
}

// KeyList lists keys, the oldest first.
type KeyList struct {
	Keys []Key `json:"keys"`
}

// NewKey asks for a key that speaks for who asks.
type NewKey struct {
	Label  string   `json:"label"`
	Scopes []string `json:"scopes"`
	Days   int      `json:"days,omitempty"` // 0: it doesn't expire
}

// IssuedKey is a new key with its secret, which is shown once.
type IssuedKey struct {
	Key    Key    `json:"key"`
	Secret string `json:"secret"`
}

// maxKeyDays is ten years.
const maxKeyDays = 3650

func keyOf(k identity.Key) Key {
	out := Key{
		ID: k.ID, Person: k.Person, Label: k.Label, Scopes: []string{}, Created: k.Created,
		Expires: optional(k.Expires), Revoked: optional(k.Revoked), Used: optional(k.Used),
	}
	for _, s := range k.Scopes {
		out.Scopes = append(out.Scopes, string(s))
	}
	return out
}

// keys are the person's own, or with of=all everybody's, for who may see those.
func (a *API) keys(c *gin.Context, all bool) ([]identity.Key, error) {
	p := principal(c)
	found, err := a.c.Keys.Keys(c.Request.Context(), p.Org)
	if err != nil {
		return nil, err
	}
	var out []identity.Key
	for _, k := range found {
		if all || k.Person == p.Person {
			out = append(out, k)
		}
	}
	return out, nil
}

func (a *API) listKeys(c *gin.Context) error {
	all := c.Query("of") == "all"
	if all && !mayRead(owner(c), "") {
		return &Error{Status: http.StatusForbidden, Code: Denied, Message: "only auditors and administrators list the keys of others", Hint: "leave out of=all"}
	}
	found, err := a.keys(c, all)
	if err != nil {
		return err
	}
	list := KeyList{Keys: make([]Key, 0, len(found))}
	for _, k := range found {
		list.Keys = append(list.Keys, keyOf(k))
	}
	c.JSON(http.StatusOK, list)
	return nil
}

func (a *API) createKey(c *gin.Context) error {
	var n NewKey
	if err := readJSON(c, &n, false); err != nil {
		return err
	}
	field := func(name, why string) error {
		return &Error{Status: http.StatusUnprocessableEntity, Code: Invalid, Field: name, Message: why, Hint: "change it and send it again"}
	}
	switch {
	case n.Label == "":
		return field("label", "say what the key is for")
	case len(n.Scopes) == 0:
		return field("scopes", "choose what the key may do")
	case n.Days < 0 || n.Days > maxKeyDays:
		return field("days", "a key lives from 1 to 3650 days; 0 is for ever")
	}
	var expires time.Time
	if n.Days > 0 {
		expires = a.c.Now().AddDate(0, 0, n.Days)
	}
	scopes := make([]identity.Scope, len(n.Scopes))
	for i, s := range n.Scopes {
		scopes[i] = identity.Scope(s)
	}
	p := principal(c)
	k, secret, err := a.c.Keys.IssueKey(c.Request.Context(), p.Org, p.Person, n.Label, expires, scopes...)
	if err != nil {
		return err
	}
	c.JSON(http.StatusCreated, IssuedKey{Key: keyOf(k), Secret: secret})
	return nil
}

// deleteKey revokes a key: one's own, or as an administrator anybody's.
func (a *API) deleteKey(c *gin.Context) error {
	p := principal(c)
	found, err := a.keys(c, p.Role == identity.Admin)
	if err != nil {
		return err
	}
	for _, k := range found {
		if k.ID != c.Param("id") {
			continue
		}
		if err := a.c.Keys.RevokeKey(c.Request.Context(), p.Org, k.ID); err != nil {
			return err
		}
		c.Status(http.StatusNoContent)
		c.Writer.WriteHeaderNow()
		return nil
	}
	return identity.ErrNotFound
}
