package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"bordereau/agent/identity"
)

// Access says who may call an endpoint. The zero value says nothing, and nobody may.
type Access struct {
	kind  accessKind
	roles []string       // none: any
	scope identity.Scope // what a key needs; "": no key will do
}

type accessKind int

const (
	unstated accessKind = iota
	public
	people
)

// SessionOnly is the scope that no key has: for what a person does in a browser alone.
const SessionOnly identity.Scope = ""

// Public is for everybody, signed in or not.
func Public() Access { return Access{kind: public} }

// Anyone is for every person, and for keys with a scope.
func Anyone(scope identity.Scope) Access { return Access{kind: people, scope: scope} }

// Only is for people with one of the roles, and for their keys with a scope.
func Only(scope identity.Scope, roles ...string) Access {
	if len(roles) == 0 {
		return Access{}
	}
	return Access{kind: people, scope: scope, roles: roles}
}

// Stated tells whether it says anything.
func (a Access) Stated() bool { return a.kind != unstated }

// IsPublic tells whether nobody has to sign in.
func (a Access) IsPublic() bool { return a.kind == public }

// Role tells whether people of a role may.
func (a Access) Role(role string) bool {
	return a.kind == public || a.kind == people && (a.roles == nil || slices.Contains(a.roles, role))
}

// Key tells whether a key with these scopes may, if its person may.
func (a Access) Key(scopes identity.Scopes) bool {
	return a.kind == public || a.scope != SessionOnly && slices.Contains(scopes, a.scope)
}

// String says it in words.
func (a Access) String() string {
	switch a.kind {
	case public:
		return "public"
	case people:
		who := "any person"
		if a.roles != nil {
			who = strings.Join(a.roles, " or ")
		}
		if a.scope == SessionOnly {
			return who + ", no key"
		}
		return who + ", keys with scope " + string(a.scope)
	}
	return "nobody"
}

// Endpoint is an address, who may call it, and what answers.
type Endpoint struct {
	Pattern string // of http.ServeMux, with its method: "POST /api/import"
	Access  Access
	Handler http.Handler
}
