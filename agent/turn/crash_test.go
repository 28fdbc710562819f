package turn_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"bordereau/agent/journal"
	"bordereau/agent/model/modelserver"
	"bordereau/agent/turn"
	"bordereau/migrations"
)

// ending is the text that every turn of the crash tests ends with, whatever it went through.
const ending = "Fourteen findings, all of them in result.txt."

func crashScript() modelserver.Script {
	input := json.RawMessage(`{"q":"SELECT 1"}`)
	return modelserver.Script{Replies: []modelserver.Reply{
		{Text: "I look at the data first.", Calls: []modelserver.Call{{ID: "a", Name: "query", Input: input}, {ID: "b", Name: "write", Input: input}}, Piece: 8},
		{Text: "One more.", Calls: []modelserver.Call{{ID: "c", Name: "write", Input: input}}, Piece: 4},
		{Text: ending, Piece: 6},
	}}
}

// world is the far side of the tools: it answers a key once, refuses turns that aren't live, and notes what must not happen.
type world struct {
	store *journal.Store
	mu    sync.Mutex
	done  map[string]string            // by key
	files map[string]map[string]string // by turn and name
	wrong []string
	fence int
}

func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	answer := func(v any) {
		if err := json.NewEncoder(rw).Encode(v); err != nil {
			w.wrong = append(w.wrong, err.Error())
		}
	}
	if r.URL.Path == "/files" {
		var id string
		if err := json.NewDecoder(r.Body).Decode(&id); err != nil {
			w.wrong = append(w.wrong, err.Error())
		}
		files := w.files[id]
		if files == nil {
			files = map[string]string{}
		}
		answer(files)
		return
	}
	var c farCall
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	live, err := w.store.TurnLive(r.Context(), c.Turn, c.Epoch)
	if err != nil || !live {
		w.fence++
		http.Error(rw, "the turn moved on", http.StatusUnauthorized)
		return
	}
	steps, err := w.store.StepsOf(r.Context(), c.Turn)
	if err != nil {
		w.wrong = append(w.wrong, err.Error())
	}
	for _, st := range steps {
		if fmt.Sprintf("%s:%d", c.Turn, st.N) == c.Key && st.State == journal.Finished {
			w.wrong = append(w.wrong, "finished step ran again: "+c.Key)
		}
	}
	if text, again := w.done[c.Key]; again {
		if !c.Again {
			w.wrong = append(w.wrong, "a call was repeated without saying so: "+c.Key)
		}
		answer(text)
		return
	}
	w.done[c.Key] = "result of " + c.Tool
	if c.Tool == "write" {
		if w.files[c.Turn] == nil {
			w.files[c.Turn] = map[string]string{}
		}
		w.files[c.Turn]["result.txt"] = "sha of " + c.Key
	}
	answer(w.done[c.Key])
}

// scene is one crash test's surroundings.
type scene struct {
	store *journal.Store
	world *world
	dsn   string
	far   string
	model string
	asked func() int64
	ttl   time.Duration
	place place

	expired  *samples // how long turns waited for another replica after their leases had run out
	released *samples // and after they had been given back
}

func newScene(t *testing.T, p place, ttl time.Duration) *scene {
	t.Helper()
	dsn := p.database(t)
	db, dialect, err := migrations.Open(t.Context(), dsn, migrations.Journal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store, err := journal.Open(journal.Config{DB: db, Dialect: dialect, NewID: uuid.NewString, LeaseTTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{store: store, done: map[string]string{}, files: map[string]map[string]string{}}
	far := httptest.NewServer(w)
	t.Cleanup(far.Close)
	models := modelserver.New(crashScript())
	ms := httptest.NewServer(models)
	t.Cleanup(ms.Close)
	return &scene{store: store, world: w, dsn: dsn, far: far.URL, model: ms.URL, asked: models.Asked, ttl: ttl, place: p}
}

// backend starts a process that is ready when backend returns. It dies with the test.
func (s *scene) backend(t *testing.T, at int64, sig syscall.Signal) *exec.Cmd {
	t.Helper()
	c, err := json.Marshal(childConfig{DSN: s.dsn, Models: s.model, World: s.far, TTL: s.ttl, At: at, Signal: sig, Redis: s.place.redis})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "BORDEREAU_CRASH_CHILD="+string(c))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("backend %d:\n%s", cmd.Process.Pid, log.String())
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("backend: %q, %v", line, err)
	}
	return cmd
}

func (s *scene) post(t *testing.T) string {
	t.Helper()
	h := &house{store: s.store}
	return h.post(t, "c-"+uuid.NewString(), "Reconcile").Turn.ID
}

func (s *scene) await(t *testing.T, what string, bound time.Duration, is func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !is() {
		if time.Since(began) > bound {
			t.Fatalf("waited %s for %s", bound, what)
		}
		time.Sleep(2 * time.Millisecond)
	}
	return time.Since(began)
}

func (s *scene) turn(t *testing.T, id string) journal.Turn {
	t.Helper()
	got, err := s.store.Find(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// check holds a turn to what is promised after any crash.
func (s *scene) check(t *testing.T, id string) {
	t.Helper()
	if got := s.turn(t, id).Outcome; got.Status != journal.Completed {
		t.Fatalf("outcome %+v", got)
	}
	s.world.mu.Lock()
	for _, w := range s.world.wrong {
		t.Error(w)
	}
	s.world.mu.Unlock()
	steps, err := s.store.StepsOf(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != 6 {
		t.Errorf("%d steps", len(steps))
	}
	for _, st := range steps {
		if st.State != journal.Finished {
			t.Errorf("step %d is %s", st.N, st.State)
		}
	}
	attempts, err := s.store.AttemptsOf(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	charges, err := s.store.ChargesOf(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	models, exact := 0, 0
	for _, a := range attempts {
		if steps[a.N-1].Kind == journal.ModelStep {
			models++
		}
	}
	for _, c := range charges {
		if !c.Estimated {
			exact++
		}
	}
	if exact != 3 || len(charges) != models {
		t.Errorf("%d model attempts, %d charges of which %d exact", models, len(charges), exact)
	}
	if asked := s.asked(); asked > int64(models) {
		t.Errorf("the model was asked %d times for %d attempts", asked, models)
	}
	files, err := s.store.ArtifactsOf(t.Context(), id)
	if err != nil || len(files) != 1 || files[0].SHA256 != "sha of "+id+":5" {
		t.Errorf("artifacts %+v, %v", files, err)
	}
	h := &house{events: turn.Events{Journal: s.store, Buffer: emptyBuffer()}}
	all := h.follow(t, id, 0)
	if s.place.redis != "" {
		h.events.Buffer = s.place.buffer(t)
		// Redis may still have what an attempt said before it was given up, where the journal has nothing; readers end up
		// with the same.
		there := h.follow(t, id, 0)
		if len(there) != len(all) || text(there) != text(all) || !slices.Equal(terminals(there), terminals(all)) {
			t.Errorf("Redis tells another story: %d events, %q, %v", len(there), text(there), terminals(there))
		}
	}
	if got := text(all); got != "I look at the data first.|One more.|"+ending {
		t.Errorf("readers see %q", got)
	}
	if got := terminals(all); len(got) != 1 || all[len(all)-1].Type != "finish" {
		t.Errorf("terminal events %v", got)
	}
}

// dump is everything that a zombie could spoil.
func (s *scene) dump(t *testing.T, id string) string {
	t.Helper()
	steps, err1 := s.store.StepsOf(t.Context(), id)
	attempts, err2 := s.store.AttemptsOf(t.Context(), id)
	charges, err3 := s.store.ChargesOf(t.Context(), id)
	chunks, err4 := s.store.Chunks(t.Context(), id, 0)
	files, err5 := s.store.ArtifactsOf(t.Context(), id)
	for _, err := range []error{err1, err2, err3, err4, err5} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b, err := json.Marshal([]any{steps, attempts, charges, chunks, files, s.turn(t, id).Outcome})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
