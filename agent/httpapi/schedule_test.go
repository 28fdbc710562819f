package httpapi

import (
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/uuid"

	"bordereau/agent/schedule"
)

// taken is a delivery that always arrives.
type taken struct{}

func (taken) Deliver(context.Context, schedule.Destination, schedule.Letter) (string, error) {
	return "taken", nil
}

func (taken) Secret(id, to string) string { return "whsec_" + id + to }

// schedules is a desk over the rig's journal, whose clock nobody looks at.
func (r *rig) schedules(db *sql.DB) *schedule.Desk {
	r.t.Helper()
	store, err := schedule.NewStore(schedule.StoreConfig{DB: db, NewID: uuid.NewString})
	if err != nil {
		r.t.Fatal(err)
	}
	s, err := schedule.New(schedule.Config{
		Store: store, Journal: r.store, People: r.people, Files: r.files, Wake: func() {}, NewID: uuid.NewString, Log: slog.New(slog.DiscardHandler),
		Deliverers: map[schedule.Kind]schedule.Deliverer{schedule.Email: taken{}, schedule.Webhook: taken{}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	desk, err := schedule.NewDesk(schedule.DeskConfig{Store: store, Scheduler: s, Models: names{"playbook", "other"}, People: r.people, Secrets: taken{}, NewID: uuid.NewString})
	if err != nil {
		r.t.Fatal(err)
	}
	return desk
}

const daily = `{"name":"Daily","task":"Reconcile yesterday's submissions","cron":"30 6 * * mon-fri","zone":"America/New_York",
	"deliver":[{"kind":"email","to":"analyst@acme.example"},{"kind":"webhook","to":"https://hooks.example/in"}]}`

func TestSchedules(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	var s Schedule
	r.get(request{who: me, method: "POST", path: "/api/schedules", body: daily}, 201, &s)
	if s.Model != "playbook" || s.Missed != "run_once" || s.Overlap != "skip" || len(s.Next) != 5 || !s.Mine || s.Person.Name == "" || s.Deliver[1].Secret == "" {
		t.Errorf("%+v", s)
	}
	one := "/api/schedules/" + s.ID
	var list ScheduleList
	r.get(request{who: me, method: "GET", path: "/api/schedules"}, 200, &list)
	if len(list.Schedules) != 1 || strings.Join(list.Kinds, " ") != "email webhook" || len(list.Models) != 2 {
		t.Errorf("%+v", list)
	}
	r.get(request{who: me, method: "PATCH", path: one, body: `{"paused":true}`}, 200, &s)
	if !s.Paused || len(s.Next) != 0 || s.Name != "Daily" {
		t.Errorf("%+v", s)
	}
	r.get(request{who: me, method: "PATCH", path: one, body: `{"paused":false,"name":"Daily 2"}`}, 200, &s)
	if s.Paused || len(s.Next) != 5 || s.Name != "Daily 2" {
		t.Errorf("%+v", s)
	}
	var run ScheduleRun
	r.get(request{who: me, method: "POST", path: one + "/run"}, 202, &run)
	r.fails(request{who: me, method: "POST", path: one + "/run"}, 409, Invalid)
	var runs ScheduleRunList
	r.get(request{who: me, method: "GET", path: one + "/runs"}, 200, &runs)
	if len(runs.Runs) != 1 || runs.Runs[0].State != "running" || runs.Runs[0].Cause != "person" || runs.Runs[0].Conversation != run.Conversation {
		t.Errorf("%+v", runs)
	}
	r.fails(request{who: me, method: "POST", path: one + "/deliveries/x/retry"}, 409, Invalid)
	r.get(request{who: me, method: "DELETE", path: one}, 204, nil)
	r.fails(request{who: me, method: "GET", path: one}, 404, NotFound)
}

func TestSchedulesOfOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	var s Schedule
	r.get(request{who: me, method: "POST", path: "/api/schedules", body: daily}, 201, &s)
	one := "/api/schedules/" + s.ID
	for _, who := range []string{"acme/analyst", "other/underwriter", "other/admin", "other/auditor"} {
		for _, q := range []request{
			{method: "GET", path: one},
			{method: "GET", path: one + "/runs"},
			{method: "POST", path: one + "/run"},
			{method: "PATCH", path: one, body: `{"paused":true}`},
			{method: "DELETE", path: one},
			{method: "POST", path: one + "/deliveries/x/retry"},
		} {
			q.who = who
			r.fails(q, 404, NotFound)
		}
	}
	r.fails(request{who: "acme/analyst", method: "GET", path: "/api/schedules?of=all"}, 403, Denied)
	var seen Schedule
	r.get(request{who: "acme/auditor", method: "GET", path: one}, 200, &seen)
	if seen.Mine || seen.Deliver[1].Secret != "" {
		t.Errorf("an auditor sees %+v", seen)
	}
	r.fails(request{who: "acme/auditor", method: "PATCH", path: one, body: `{"paused":true}`}, 403, Denied)
	r.fails(request{who: "acme/admin", method: "PATCH", path: one, body: `{"paused":true,"task":"mine"}`}, 403, Denied)
	r.fails(request{who: "acme/admin", method: "POST", path: one + "/run"}, 403, Denied)
	r.get(request{who: "acme/admin", method: "PATCH", path: one, body: `{"paused":true}`}, 200, nil)
	r.fails(request{who: "acme/admin", method: "PATCH", path: one, body: `{"paused":false}`}, 403, Denied)
	r.get(request{who: "acme/admin", method: "DELETE", path: one}, 204, nil)
}

func TestScheduleProblems(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.fails(request{who: me, method: "POST", path: "/api/schedules", body: strings.Replace(daily, "30 6", "30 25", 1)}, 422, Invalid)
	if e.Field != "cron" || !strings.Contains(e.Message, `the hour "25" is wrong`) {
		t.Errorf("%+v", e)
	}
	e = r.fails(request{who: me, method: "POST", path: "/api/schedules", body: strings.Replace(daily, "analyst@acme", "thief@evil", 1)}, 422, Invalid)
	if e.Field != "deliver" {
		t.Errorf("%+v", e)
	}
	var p SchedulePreview
	r.get(request{who: me, method: "POST", path: "/api/schedules/preview", body: `{"cron":"30 6 * *","zone":"America/New_York"}`}, 200, &p)
	if p.Field != "cron" || !strings.Contains(p.Problem, "this one has 4") || len(p.Next) != 0 {
		t.Errorf("%+v", p)
	}
	r.get(request{who: me, method: "POST", path: "/api/schedules/preview", body: `{"cron":"30 6 * * mon-fri","zone":"America/New_York"}`}, 200, &p)
	if len(p.Next) != 5 {
		t.Errorf("%+v", p)
	}
}
