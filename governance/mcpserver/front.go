package mcpserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"bordereau/governance/fault"
	"bordereau/governance/turntoken"
)

// ServeHTTP checks who calls before anything of the request is read, and what is called before anything is done.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		// Nothing is ever sent without being asked for, and there are no sessions to end.
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, &fault.Error{Code: fault.Invalid, Component: component, Message: "the endpoint takes POST only"})
		return
	}
	who, f := s.authenticate(r)
	if f != nil {
		status := http.StatusUnauthorized
		if f.Code == fault.Unavailable {
			status = http.StatusServiceUnavailable
			w.Header().Set("Retry-After", "1")
		} else {
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			if s.c.Verifier.Proofs.URL != "" {
				w.Header().Add("WWW-Authenticate", turntoken.ProofScheme+` error="invalid_dpop_proof", algs="EdDSA"`)
			}
		}
		refuse(w, status, f)
		return
	}
	leave, ok := s.enter(who)
	if !ok {
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, &fault.Error{
			Code: fault.RateLimited, Component: component, Message: "the turn has too many calls under way", Hint: "wait for one to end", Retryable: true,
		})
		return
	}
	defer leave()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.c.Limits.Body))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			refuse(w, http.StatusRequestEntityTooLarge, &fault.Error{
				Code: fault.TooLarge, Component: component, Message: "the request is larger than allowed", Hint: "send less at once",
			})
			return
		}
		refuse(w, http.StatusBadRequest, &fault.Error{Code: fault.Invalid, Component: component, Message: "the request can't be read"})
		return
	}
	m := peek(body)
	if s.unknownTool(w, r, who, m) {
		return
	}
	ctx := context.WithValue(r.Context(), callerKey{}, who)
	if m.Method == "subscriptions/listen" { // it would stay open after its token, for changes that never come
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, who.Expires)
		defer cancel()
	}
	in := r.Clone(ctx)
	in.Body = io.NopCloser(bytes.NewReader(body))
	// A session id would let one caller share state with another: the library looks it up even when it is stateless.
	in.Header.Del("Mcp-Session-Id")
	in.Header.Del("Last-Event-ID")
	s.http.ServeHTTP(&typed{ResponseWriter: w, modern: isModern(r)}, in)
}

// authenticate returns the verified token of a request that came through the door of its sandbox, or with a proof of the key
// that the token is bound to, or why not.
func (s *Server) authenticate(r *http.Request) (turntoken.Claims, *fault.Error) {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), turntoken.ProofScheme+" "); ok && token != "" {
		claims, err := s.c.Verifier.VerifyBound(r.Context(), token, r.Method, r.Header)
		return claims, s.judge(r, token, "", err)
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || token == "" {
		return turntoken.Claims{}, s.refused(r, "", "", "missing")
	}
	sandbox, err := s.c.Stamper.Sandbox(r.Header.Get(turntoken.StampHeader), token)
	if err != nil {
		return turntoken.Claims{}, s.refused(r, token, "", "stamp")
	}
	claims, err := s.c.Verifier.Verify(r.Context(), token, sandbox)
	return claims, s.judge(r, token, sandbox, err)
}

// judge records what was refused and types it; nil for a token that was taken.
func (s *Server) judge(r *http.Request, token, sandbox string, err error) *fault.Error {
	if err == nil {
		return nil
	}
	if errors.Is(err, turntoken.ErrUnavailable) {
		_ = s.refused(r, token, sandbox, "unavailable") // recorded like any other; what the caller is told is below
		return (&fault.Error{
			Code: fault.Unavailable, Component: "turn", Message: "nobody can tell whether the turn is live", Hint: "ask again in a moment", Retryable: true,
		}).Because(err)
	}
	for _, known := range []struct {
		err  error
		kind string
	}{
		{turntoken.ErrExpired, "expired"},
		{turntoken.ErrSandbox, "sandbox"},
		{turntoken.ErrDead, "dead"},
		{turntoken.ErrConfig, "config"},
		{turntoken.ErrProof, "proof"},
		{turntoken.ErrReplayed, "replayed"},
	} {
		if errors.Is(err, known.err) {
			return s.refused(r, token, sandbox, known.kind)
		}
	}
	return s.refused(r, token, sandbox, "malformed")
}

// reasons are what a refused caller is told: enough to mend an honest mistake, nothing about what would have been right.
func reason(kind string) string {
	switch kind {
	case "missing":
		return "the call has no token"
	case "expired":
		return "the token has expired or isn't valid yet"
	case "stamp", "sandbox":
		return "the token is used from outside its sandbox"
	case "dead":
		return "the token's turn has ended or moved on"
	case "proof":
		return "the call has no good proof of the token's key"
	case "replayed":
		return "the call's proof was used before"
	default:
		return "the token is not valid"
	}
}

// refused records a refused token and returns the refusal.
func (s *Server) refused(r *http.Request, token, sandbox, kind string) *fault.Error {
	out := Refusal{At: s.c.Now(), Kind: kind, Sandbox: sandbox, Remote: r.RemoteAddr}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		out.Token = hex.EncodeToString(sum[:])
		out.Org, out.Turn, out.TokenID = claimed(token)
	}
	s.record(r.Context(), out)
	return &fault.Error{Code: fault.Auth, Component: "turntoken", Message: reason(kind), Hint: "a turn's token works from its sandbox, while the turn runs"}
}

func (s *Server) record(ctx context.Context, r Refusal) {
	s.c.Log.WarnContext(ctx, "call refused", "kind", r.Kind, "org", r.Org, "turn_id", r.Turn, "tool", r.Tool, "verified", r.Verified, "remote", r.Remote)
	if err := s.c.Refusals.Refused(context.WithoutCancel(ctx), r); err != nil {
		s.c.Log.ErrorContext(ctx, "refusal not recorded", "kind", r.Kind, "error", err)
	}
}

// claimed reads what an unverified token says of itself, for the record only.
func claimed(token string) (org, turn, id string) {
	parts := strings.Split(token, ".")
	if len(token) > 8<<10 || len(parts) != 3 {
		return "", "", ""
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", "", ""
	}
	var c struct {
		Org  string `json:"org"`
		Turn string `json:"turn"`
		ID   string `json:"jti"`
	}
	if json.Unmarshal(raw, &c) != nil {
		return "", "", ""
	}
	cut := func(s string) string { return strings.ToValidUTF8(s[:min(len(s), 128)], "") }
	return cut(c.Org), cut(c.Turn), cut(c.ID)
}

// enter counts the requests of a turn; false says that it has too many.
func (s *Server) enter(who turntoken.Claims) (leave func(), ok bool) {
	key := who.Org + "\x00" + who.Turn
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[key] >= s.c.Limits.Calls {
		return nil, false
	}
	s.calls[key]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.calls[key]--; s.calls[key] == 0 {
			delete(s.calls, key)
		}
	}, true
}

// unknownTool answers a call of a tool that isn't on the token's list as one of a tool that doesn't exist. The library's
// filter would refuse it too; this says it in one way and puts it on record.
func (s *Server) unknownTool(w http.ResponseWriter, r *http.Request, who turntoken.Claims, m envelope) bool {
	if m.Method != "tools/call" || len(m.ID) == 0 || string(m.ID) == "null" {
		return false
	}
	if s.tools[m.Params.Name] && who.May(m.Params.Name) {
		return false
	}
	if s.tools[m.Params.Name] {
		s.record(r.Context(), Refusal{
			At: s.c.Now(), Kind: "tool", Verified: true, Org: who.Org, Turn: who.Turn, TokenID: who.ID, Sandbox: who.Sandbox,
			Tool: m.Params.Name, Remote: r.RemoteAddr,
		})
	}
	status := http.StatusOK
	if isModern(r) {
		status = http.StatusBadRequest
	}
	name := strings.ToValidUTF8(m.Params.Name[:min(len(m.Params.Name), 100)], "")
	writeError(w, status, m.ID, codeInvalidParams, "unknown tool", &fault.Error{
		Code: fault.NotFound, Component: component, Message: "unknown tool " + name, Hint: "tools/list names the tools of this turn",
	})
	return true
}

// envelope is what is looked at of a message before the library reads it.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string `json:"name"`
	} `json:"params"`
}

// peek reads a message's envelope, an empty one of what is no message: the library says what is wrong with it.
func peek(body []byte) envelope {
	var m envelope
	if json.Unmarshal(body, &m) != nil {
		return envelope{}
	}
	return m
}
