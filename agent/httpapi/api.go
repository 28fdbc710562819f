// Package httpapi is the HTTP face of the agent: chats, their streams, files, turns and usage, for programs and the pages.
package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"bordereau/agent/artifact"
	"bordereau/agent/identity"
	"bordereau/agent/identity/oidc"
)

// ErrConfig is returned by New for a Config that lacks something.
var ErrConfig = errors.New("httpapi: incomplete configuration")

// Limits bound requests. Zero means the default.
type Limits struct {
	Body      int64         // most bytes of a JSON body; default 32 MiB: a stock client sends its whole history
	Upload    int64         // most bytes of an uploaded file; default 512 MiB
	Archive   artifact.Caps // what an uploaded archive may hold; default artifact.DefaultCaps
	KeepAlive time.Duration // how often an idle stream says that it lives; default 15 s
	Write     time.Duration // how long a reader may take for one event; default 30 s
	PerMinute int           // how often one person may change something; default 300, a third of them at once
}

// Health is a part that /healthz asks.
type Health struct {
	Name  string
	Check func(ctx context.Context) error
}

// Config is what an API is made of. All fields are required but OIDC, Sandboxes, Limits, Health, Beside, Metrics and Now.
type Config struct {
	Guard         *Guard
	SignIn        SignIn
	Sessions      Sessions
	People        People
	Keys          Keys
	OIDC          OIDC // nil: no organisation has an identity provider
	Conversations Conversations
	Turns         Turns
	Events        Events
	Runner        Runner
	Models        Models
	Files         Files
	Uploads       Uploads
	Schedules     Schedules
	ScheduleRuns  ScheduleRuns
	Sandboxes     Sandboxes // nil: nobody is told of sandboxes, and none is warmed
	Log           *slog.Logger
	Limits        Limits
	Health        []Health
	Beside        [][]byte // OpenAPI descriptions of what is served beside the API, as YAML with paths and components
	Metrics       prometheus.Registerer
	Now           func() time.Time
}

// API answers HTTP requests. Mount Handler at the root.
type API struct {
	c       Config
	engine  *gin.Engine
	doc     []byte // the OpenAPI description as JSON
	metrics *metrics
	pacer   *pacer
}

// New checks c and returns an API.
func New(c Config) (*API, error) {
	for name, missing := range map[string]bool{
		"Guard": c.Guard == nil, "SignIn": c.SignIn == nil, "Sessions": c.Sessions == nil, "People": c.People == nil, "Keys": c.Keys == nil,
		"Conversations": c.Conversations == nil, "Turns": c.Turns == nil, "Events": c.Events == nil,
		"Runner": c.Runner == nil, "Models": c.Models == nil, "Files": c.Files == nil, "Uploads": c.Uploads == nil, "Schedules": c.Schedules == nil, "ScheduleRuns": c.ScheduleRuns == nil, "Log": c.Log == nil,
	} {
		if missing {
			return nil, fmt.Errorf("%w: %s is missing", ErrConfig, name)
		}
	}
	c.Limits = c.Limits.withDefaults()
	if c.Now == nil {
		c.Now = time.Now
	}
	a := &API{c: c, pacer: newPacer(c.Limits.PerMinute)}
	var err error
	if a.metrics, err = newMetrics(c.Metrics); err != nil {
		return nil, err
	}
	if a.doc, err = description(c.Beside...); err != nil {
		return nil, err
	}
	gin.SetMode(gin.ReleaseMode) // else gin prints to standard output
	a.engine = gin.New()
	a.engine.RedirectTrailingSlash = false
	a.engine.HandleMethodNotAllowed = true
	a.engine.Use(a.identify, a.measure, a.recover, a.secure)
	for _, r := range a.routes() {
		handlers := []gin.HandlerFunc{a.limitBody, a.admit(r.access)}
		if !r.access.IsPublic() {
			handlers = append(handlers, a.pace)
		}
		a.engine.Handle(r.method, r.path, append(handlers, a.answer(r.handle))...)
	}
	a.engine.NoRoute(a.answer(func(*gin.Context) error {
		return &Error{Status: http.StatusNotFound, Code: NotFound, Message: "there is no such address", Hint: "GET /openapi.json describes what there is"}
	}))
	a.engine.NoMethod(a.answer(func(*gin.Context) error {
		return &Error{Status: http.StatusMethodNotAllowed, Code: Invalid, Message: "this address doesn't take that method", Hint: "GET /openapi.json describes what there is"}
	}))
	return a, nil
}

func (l Limits) withDefaults() Limits {
	if l.Body == 0 {
		l.Body = 32 << 20
	}
	if l.Upload == 0 {
		l.Upload = 512 << 20
	}
	if l.Archive == (artifact.Caps{}) {
		l.Archive = artifact.DefaultCaps()
	}
	if l.KeepAlive == 0 {
		l.KeepAlive = 15 * time.Second
	}
	if l.PerMinute == 0 {
		l.PerMinute = 300
	}
	if l.Write == 0 {
		l.Write = 30 * time.Second
	}
	return l
}

// Handler returns the API.
func (a *API) Handler() http.Handler { return a.engine }

// Endpoints lists what Handler answers, with who may call it.
func (a *API) Endpoints() []Endpoint {
	var all []Endpoint
	for _, r := range a.routes() {
		all = append(all, Endpoint{Pattern: r.method + " " + placeholders.ReplaceAllString(r.path, "{$1}"), Access: r.access, Handler: a.engine})
	}
	return all
}

var placeholders = regexp.MustCompile(`:(\w+)`)

// route is one endpoint. Its handle gives c.Request.Context() to other packages, never c itself: gin uses a context again
// while they may still look at it. The description served at /openapi.json has exactly these.
type route struct {
	method, path string
	access       Access
	handle       func(c *gin.Context) error
}

func (a *API) routes() []route {
	read, ask, edit, own := Anyone(identity.ScopeRead), Anyone(identity.ScopeAsk), Anyone(identity.ScopeEdit), Anyone(SessionOnly)
	manage, oversee := Only(identity.ScopeAdmin, identity.Admin), Only(identity.ScopeAdmin, identity.Admin, identity.Auditor)
	return []route{
		{"GET", "/api/session", read, a.getSession},
		{"POST", "/api/session", Public(), a.createSession},
		{"DELETE", "/api/session", own, a.deleteSession},
		{"POST", "/api/session/link", Public(), a.useLink},
		{"POST", "/api/session/link/check", Public(), a.checkLink},
		{"GET", "/api/session/methods", Public(), a.listMethods},
		{"GET", "/api/session/oidc", Public(), a.beginOIDC},
		{"GET", oidc.CallbackPath, Public(), a.endOIDC},
		{"GET", "/api/sessions", own, a.listSessions},
		{"DELETE", "/api/sessions", own, a.endOtherSessions},
		{"DELETE", "/api/sessions/:id", own, a.endSession},
		{"POST", "/api/password", own, a.changePassword},
		{"GET", "/api/people", oversee, a.listPeople},
		{"POST", "/api/people", manage, a.createPerson},
		{"PATCH", "/api/people/:id", manage, a.changePerson},
		{"POST", "/api/people/:id/link", manage, a.createLink},
		{"GET", "/api/people/:id/sessions", oversee, a.listPersonSessions},
		{"DELETE", "/api/people/:id/sessions", manage, a.endPersonSessions},
		{"GET", "/api/keys", Anyone(identity.ScopeAdmin), a.listKeys},
		{"POST", "/api/keys", own, a.createKey},
		{"DELETE", "/api/keys/:id", Anyone(identity.ScopeAdmin), a.deleteKey},
		{"GET", "/api/admin-log", oversee, a.listAdminLog},
		{"POST", "/api/admin-log/verify", oversee, a.verifyAdminLog},
		{"POST", "/api/chat", ask, a.postChat},
		{"GET", "/api/chat/:id/stream", read, a.streamChat},
		{"POST", "/api/chat/:id/stop", ask, a.stopChat},
		{"POST", "/api/chat/:id/warm", ask, a.warmChat},
		{"GET", "/api/chat/:id/activity", read, a.getActivity},
		{"GET", "/api/schedules", read, a.listSchedules},
		{"POST", "/api/schedules", edit, a.createSchedule},
		{"POST", "/api/schedules/preview", read, a.previewSchedule},
		{"GET", "/api/schedules/:id", read, a.getSchedule},
		{"PATCH", "/api/schedules/:id", edit, a.changeSchedule},
		{"DELETE", "/api/schedules/:id", edit, a.removeSchedule},
		{"POST", "/api/schedules/:id/run", ask, a.runSchedule},
		{"GET", "/api/schedules/:id/runs", read, a.listScheduleRuns},
		{"POST", "/api/schedules/:id/deliveries/:delivery/retry", ask, a.retryDelivery},
		{"GET", "/api/conversations", read, a.listConversations},
		{"POST", "/api/conversations", ask, a.createConversation},
		{"GET", "/api/conversations/:id", read, a.getConversation},
		{"PATCH", "/api/conversations/:id", ask, a.renameConversation},
		{"GET", "/api/conversations/:id/messages", read, a.listMessages},
		{"GET", "/api/conversations/:id/turns", read, a.listTurns},
		{"GET", "/api/conversations/:id/artifacts", read, a.listArtifacts},
		{"GET", "/api/conversations/:id/uploads", read, a.listUploads},
		{"POST", "/api/conversations/:id/uploads", ask, a.createUpload},
		{"GET", "/api/conversations/:id/uploads/:upload", read, a.getUpload},
		{"GET", "/api/artifacts/:id", read, a.getArtifact},
		{"GET", "/api/turns/:id", read, a.getTurn},
		{"GET", "/api/turns/:id/usage", read, a.getUsage},
		{"GET", "/api/usage", read, a.listUsage},
		{"GET", "/api/models", read, a.listModels},
		{"GET", "/api/me", read, a.getMe},
		{"GET", "/healthz", Public(), a.healthz},
		{"GET", "/openapi.json", Public(), a.openapi},
	}
}

const requestKey = "request_id"

// identify gives each request an id, which its answer and its log lines carry.
func (a *API) identify(c *gin.Context) {
	id := newRequestID()
	c.Set(requestKey, id)
	c.Header("X-Request-ID", id)
	c.Next()
}

func newRequestID() string {
	raw := make([]byte, 8)
	_, _ = rand.Read(raw) // never fails since Go 1.24
	return hex.EncodeToString(raw)
}

// recover makes a panic a typed answer; a stream that has begun can only be cut.
func (a *API) recover(c *gin.Context) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
			panic(v)
		}
		a.c.Log.ErrorContext(c.Request.Context(), "handler panicked", slog.Any("panic", v), slog.String("request_id", c.GetString(requestKey)), slog.String("stack", string(debug.Stack())))
		if !c.Writer.Written() {
			a.write(c, &Error{Status: http.StatusInternalServerError, Code: Internal, Message: "internal error", Hint: "the log has the details under the request id"})
		}
		c.Abort()
	}()
	c.Next()
}

func (a *API) secure(c *gin.Context) {
	a.c.Guard.secure(c.Writer.Header())
	c.Next()
}

func (a *API) limitBody(c *gin.Context) {
	if c.Request.Body != nil && c.FullPath() != "/api/conversations/:id/uploads" {
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, a.c.Limits.Body)
	}
	c.Next()
}

// answer turns a handler's error into a typed answer.
func (a *API) answer(handle func(c *gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := handle(c); err != nil {
			a.write(c, err)
		}
	}
}
