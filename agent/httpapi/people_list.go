package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/identity"
)

// Person is a member of the organisation.
type Person struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Email    string     `json:"email"`
	Role     string     `json:"role"`
	Disabled bool       `json:"disabled"`
	Password bool       `json:"password"` // has set one
	Created  time.Time  `json:"created"`
	Seen     *time.Time `json:"seen,omitempty"` // when she last used a session
}

// PersonList lists an organisation's people by name.
type PersonList struct {
	People []Person `json:"people"`
}

func personOf(p identity.Person) Person {
	return Person{
		ID: p.ID, Name: p.Name, Email: p.Email, Role: p.Role, Disabled: !p.Disabled.IsZero(), Password: p.Password, Created: p.Created, Seen: optional(p.Seen),
	}
}

// optional is nil for never.
func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (a *API) listPeople(c *gin.Context) error {
	all, err := a.c.People.People(c.Request.Context(), principal(c).Org)
	if err != nil {
		return err
	}
	list := PersonList{People: make([]Person, 0, len(all))}
	for _, p := range all {
		list.People = append(list.People, personOf(p))
	}
	c.JSON(http.StatusOK, list)
	return nil
}
