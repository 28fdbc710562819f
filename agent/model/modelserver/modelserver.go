// Package modelserver speaks the wires of model providers from a script, faults included, for tests, demos and load.
package modelserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Fault is something that a provider does wrong.
type Fault string

// The faults.
const (
	None          Fault = ""
	Stall         Fault = "stall"          // falls silent in mid-stream until the client leaves
	Cut           Fault = "cut"            // breaks the connection in mid-stream
	CleanEnd      Fault = "clean_end"      // ends the body in mid-stream as if all were said
	Overload      Fault = "overload"       // refuses: 529 or 503, Retry-After when Reply.RetryAfter is set
	OverloadLate  Fault = "overload_late"  // status 200, then an error in the stream
	RateLimit     Fault = "rate_limit"     // 429 with Retry-After
	ContextLength Fault = "context_length" // 400, too long
	BadKey        Fault = "bad_key"        // 401
	UnknownModel  Fault = "unknown_model"  // 404
	BadInput      Fault = "bad_input"      // a call's input is no JSON
	NoEndMarker   Fault = "no_end_marker"  // whole, but without the last event: message_stop, or [DONE]
	NotJSON       Fault = "not_json"       // a line of the stream is no JSON
	Refuse        Fault = "refuse"         // the model declines
	FullWindow    Fault = "full_window"    // stops since the context is full
	LengthLimit   Fault = "length_limit"   // stops at the reply's limit
)

// Call is a tool call that a reply makes.
type Call struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Reply is one answer of the server.
type Reply struct {
	Thinking   string        `json:"thinking,omitempty"`
	Text       string        `json:"text,omitempty"`
	Calls      []Call        `json:"calls,omitempty"`
	Fault      Fault         `json:"fault,omitempty"`
	Times      int           `json:"times,omitempty"`       // the fault comes that often, then the reply is good; 0: always
	RetryAfter string        `json:"retry_after,omitempty"` // the header's text
	Delay      time.Duration `json:"delay,omitempty"`       // before the first byte, in nanoseconds
	Every      time.Duration `json:"every,omitempty"`       // between two pieces of text
	Piece      int           `json:"piece,omitempty"`       // bytes of text in one event; 0: 4
}

// Script says what is answered. The reply to a request is chosen by how many assistant messages follow its last question, so
// every turn of a conversation plays the script, and a request that is sent again is answered the same, by whichever server.
type Script struct {
	Replies   []Reply `json:"replies"`    // the last one is repeated
	Key       string  `json:"key"`        // what requests must present; "": anything
	SplitByte bool    `json:"split_byte"` // every byte of a body in a packet of its own
}

// Server is an http.Handler for both wires.
type Server struct {
	script atomic.Pointer[Script]
	mu     sync.Mutex
	faults map[int]int // times that a reply's fault has come
	asked  atomic.Int64
	last   atomic.Pointer[[]byte]
	onAsk  atomic.Pointer[func(time.Time)]
}

// New returns a server that answers by s.
func New(s Script) *Server {
	v := &Server{faults: map[int]int{}}
	v.Play(s)
	return v
}

// Play changes the script.
func (s *Server) Play(script Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.faults)
	s.script.Store(&script)
}

// Asked counts requests.
func (s *Server) Asked() int64 { return s.asked.Load() }

// LastBody is the newest request's JSON.
func (s *Server) LastBody() []byte {
	if b := s.last.Load(); b != nil {
		return *b
	}
	return nil
}

// OnAsk calls f when a request arrives, for measurements.
func (s *Server) OnAsk(f func(time.Time)) { s.onAsk.Store(&f) }

// ServeHTTP answers /v1/messages and …/chat/completions.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f := s.onAsk.Load(); f != nil {
		(*f)(time.Now())
	}
	s.asked.Add(1)
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		http.Error(w, "reading the request failed", http.StatusBadRequest)
		return
	}
	s.last.Store(&body)
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/v1/messages"):
		s.answer(w, r, body, claude{})
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions"):
		s.answer(w, r, body, chat{})
	default:
		http.NotFound(w, r)
	}
}

// wire writes one provider's protocol.
type wire interface {
	key(h http.Header) string
	refuse(f Fault) (status int, body string)
	write(o *out, r Reply, fault Fault, input, output int)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, body []byte, to wire) {
	var req struct {
		Messages []message `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		http.Error(w, `{"error":{"type":"invalid_request_error","message":"not JSON"}}`, http.StatusBadRequest)
		return
	}
	script := s.script.Load()
	n := sinceQuestion(req.Messages)
	if len(script.Replies) == 0 {
		http.Error(w, `{"error":{"type":"api_error","message":"the script is empty"}}`, http.StatusInternalServerError)
		return
	}
	n = min(n, len(script.Replies)-1)
	reply := script.Replies[n]
	fault := s.due(n, reply)
	if script.Key != "" && to.key(r.Header) != script.Key {
		fault = BadKey
	}
	o := &out{w: w, ctx: r.Context(), split: script.SplitByte}
	if !o.pause(reply.Delay) {
		return
	}
	if status, text := to.refuse(fault); status != 0 {
		if reply.RetryAfter != "" {
			w.Header().Set("Retry-After", reply.RetryAfter)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text) // the client may have left
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	to.write(o, reply, fault, (len(body)+3)/4, (len(reply.Text)+len(reply.Thinking)+3)/4+20*len(reply.Calls))
}

func (s *Server) due(n int, r Reply) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Fault == None || r.Times > 0 && s.faults[n] >= r.Times {
		return None
	}
	s.faults[n]++
	return r.Fault
}

// message is what both wires say of one message.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// sinceQuestion counts the assistant's messages after the last question. What a person adds while tools run is none.
func sinceQuestion(all []message) (n int) {
	for i, m := range all {
		switch {
		case m.Role == "assistant":
			n++
		case m.Role == "user" && !bytes.Contains(m.Content, []byte(`"tool_result"`)) && (i == 0 || all[i-1].Role != "tool"):
			n = 0
		}
	}
	return n
}

// pieces cuts a text as a stream would.
func pieces(s string, n int) (all []string) {
	if n <= 0 {
		n = 4
	}
	runes := []rune(s)
	for i := 0; i < len(runes); i += n {
		all = append(all, string(runes[i:min(i+n, len(runes))]))
	}
	return all
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

func errorBody(kind, message string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":%s,"message":%s}}`, quote(kind), quote(message))
}
