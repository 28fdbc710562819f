package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"bordereau/agent/httpapi"
)

const scheduleUsage = `Usage:
  bordereau schedule add [flags] NAME      make a schedule; --cron, --zone, --task, --email, --webhook, --folder …
  bordereau schedule list                  one's schedules and when they run next
  bordereau schedule show ID               one schedule, its next runs and its history
  bordereau schedule run ID                run it now
  bordereau schedule pause ID
  bordereau schedule resume ID
  bordereau schedule remove ID

'bordereau schedule add -h' tells the flags.
`

// runSchedule makes, lists and changes schedules over the HTTP API.
func runSchedule(ctx context.Context, args []string, std stdio) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-h") || args[0] == "--help" || args[0] == "help" {
		_, err := fmt.Fprint(std.Out, scheduleUsage)
		return err
	}
	s := scheduleCommand{verb: args[0], std: std, flags: flag.NewFlagSet("schedule "+args[0], flag.ContinueOnError)}
	s.flags.SetOutput(std.Err)
	org := s.flags.String("org", std.Env("BORDEREAU_ORG"), "whose key to use: the `ORGANISATION`")
	address := s.flags.String("url", or(std.Env("BORDEREAU_URL"), "http://"+defaults().Listen), "where Bordereau listens")
	data := s.flags.String("data", or(std.Env("BORDEREAU_DATA"), defaults().Data), "data `FOLDER` to find the key in, unless BORDEREAU_API_KEY is set")
	run := map[string]func(context.Context) error{
		"add": s.add(), "list": s.list, "show": s.show, "run": s.run, "remove": s.remove,
		"pause":  func(ctx context.Context) error { return s.pause(ctx, true) },
		"resume": func(ctx context.Context) error { return s.pause(ctx, false) },
	}[s.verb]
	if run == nil {
		return usagef("schedule: there is no %q\n%s", s.verb, scheduleUsage)
	}
	if err := s.flags.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return usageError{}
	}
	if (s.flags.NArg() != 1) != (s.verb == "list") {
		return usagef("schedule %s: want one name or id\n%s", s.verb, scheduleUsage)
	}
	key, err := apiKey(std, *data, *org)
	if err != nil {
		return err
	}
	if s.client, err = newAskClient(askClientConfig{URL: *address, Key: key, HTTP: &http.Client{Timeout: time.Minute}}); err != nil {
		return err
	}
	return run(ctx)
}

type scheduleCommand struct {
	verb   string
	std    stdio
	flags  *flag.FlagSet
	client *askClient
}

// call sends a body and reads an answer, as JSON; either may be nil.
func (s *scheduleCommand) call(ctx context.Context, method, path string, body, answer any) error {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return err
		}
	}
	resp, err := s.client.do(ctx, method, path, "application/json", bytes.NewReader(raw), nil)
	if err != nil {
		return err
	}
	if answer != nil {
		err = json.NewDecoder(resp.Body).Decode(answer)
	}
	return errors.Join(err, resp.Body.Close())
}

func (s *scheduleCommand) path(rest string) string {
	return "/api/schedules/" + url.PathEscape(s.flags.Arg(0)) + rest
}

// add declares the flags of a new schedule and returns what makes it.
func (s *scheduleCommand) add() func(context.Context) error {
	if s.verb != "add" {
		return nil
	}
	var mail, alert, hooks, folders list
	cron := s.flags.String("cron", "", "when: minute, hour, day of the month, month, day of the week, such as '30 6 * * mon-fri'")
	zone := s.flags.String("zone", "UTC", "the `TIME ZONE` of --cron, such as America/New_York")
	task := s.flags.String("task", "", "what to do, as you would ask it in a chat")
	model := s.flags.String("model", "", "the `MODEL` (default: today's default one, for good)")
	missed := s.flags.String("missed", "run_once", "ticks that were missed: run_once or skip")
	overlap := s.flags.String("overlap", "skip", "a tick while the run before it is under way: skip or queue")
	s.flags.Var(&mail, "email", "send the report to this `ADDRESS`; may be given more than once")
	s.flags.Var(&alert, "alert", "send alerts to this `ADDRESS` (default: yourself); may be given more than once")
	s.flags.Var(&hooks, "webhook", "post the report's event to this `URL`; may be given more than once")
	s.flags.Var(&folders, "folder", "put the report into this `FOLDER` of the outbox; may be given more than once")
	return func(ctx context.Context) error {
		name := s.flags.Arg(0)
		d := httpapi.ScheduleDraft{Name: &name, Task: task, Cron: cron, Zone: zone, Model: model, Missed: missed, Overlap: overlap, Deliver: &[]httpapi.Destination{}, Alert: &[]httpapi.Destination{}}
		for kind, all := range map[string]list{"email": mail, "webhook": hooks, "folder": folders} {
			for _, to := range all {
				*d.Deliver = append(*d.Deliver, httpapi.Destination{Kind: kind, To: to})
			}
		}
		for _, to := range alert {
			*d.Alert = append(*d.Alert, httpapi.Destination{Kind: "email", To: to})
		}
		var made httpapi.Schedule
		if err := s.call(ctx, http.MethodPost, "/api/schedules", d, &made); err != nil {
			return err
		}
		s.print(made)
		return nil
	}
}

func (s *scheduleCommand) list(ctx context.Context) error {
	var all httpapi.ScheduleList
	if err := s.call(ctx, http.MethodGet, "/api/schedules", nil, &all); err != nil {
		return err
	}
	for _, v := range all.Schedules {
		last := "never ran"
		if v.Last != nil {
			last = "last " + v.Last.State + " " + v.Last.Tick.Format(time.RFC3339)
		}
		fmt.Fprintf(s.std.Out, "%s  %-30s %-22s %-20s %s; %s\n", v.ID, v.Name, v.Cron, v.Zone, nextRun(v), last)
	}
	return nil
}

func nextRun(v httpapi.Schedule) string {
	switch {
	case v.Paused && v.PausedWhy != "":
		return "paused: " + v.PausedWhy
	case v.Paused:
		return "paused"
	case len(v.Next) == 0:
		return "no next run"
	}
	return "next " + v.Next[0].Format(time.RFC3339)
}

// print shows one schedule.
func (s *scheduleCommand) print(v httpapi.Schedule) {
	zone, err := time.LoadLocation(v.Zone)
	if err != nil {
		zone = time.UTC
	}
	fmt.Fprintf(s.std.Out, "%s\n  %s\n  %s\n  %s, %s; model %s; missed %s, overlapping %s\n", v.ID, v.Name, v.Task, v.Cron, v.Zone, v.Model, v.Missed, v.Overlap)
	for _, d := range v.Deliver {
		fmt.Fprintf(s.std.Out, "  to %s %s %s\n", d.Kind, d.To, d.Secret)
	}
	if v.Paused {
		fmt.Fprintln(s.std.Out, " ", nextRun(v))
	}
	for _, t := range v.Next {
		fmt.Fprintln(s.std.Out, "  next", t.In(zone).Format("Mon 2006-01-02 15:04 MST"))
	}
}

func (s *scheduleCommand) show(ctx context.Context) error {
	var v httpapi.Schedule
	if err := s.call(ctx, http.MethodGet, s.path(""), nil, &v); err != nil {
		return err
	}
	s.print(v)
	var runs httpapi.ScheduleRunList
	if err := s.call(ctx, http.MethodGet, s.path("/runs?limit=20"), nil, &runs); err != nil {
		return err
	}
	for _, r := range runs.Runs {
		fmt.Fprintf(s.std.Out, "%s  %-9s by %-6s %s\n", r.Tick.Format(time.RFC3339), r.State, r.Cause, join(r.Alert, r.Note))
		for _, f := range r.Artifacts {
			fmt.Fprintf(s.std.Out, "    file %s  %d bytes  %s\n", f.Name, f.Size, f.URL)
		}
		for _, d := range r.Deliveries {
			said := ""
			if n := len(d.Attempts); n > 0 {
				said = join(d.Attempts[n-1].Message, d.Attempts[n-1].Hint)
			}
			fmt.Fprintf(s.std.Out, "    %s to %s %s: %s after %d attempts: %s\n", d.Parcel, d.Kind, d.To, d.State, len(d.Attempts), said)
		}
	}
	return nil
}

func (s *scheduleCommand) run(ctx context.Context) error {
	var r httpapi.ScheduleRun
	if err := s.call(ctx, http.MethodPost, s.path("/run"), nil, &r); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.std.Out, "%s: conversation %s\n", r.State, or(r.Conversation, "not begun"))
	return err
}

func (s *scheduleCommand) pause(ctx context.Context, paused bool) error {
	var v httpapi.Schedule
	if err := s.call(ctx, http.MethodPatch, s.path(""), httpapi.ScheduleDraft{Paused: &paused}, &v); err != nil {
		return err
	}
	_, err := fmt.Fprintln(s.std.Out, nextRun(v))
	return err
}

func (s *scheduleCommand) remove(ctx context.Context) error {
	return s.call(ctx, http.MethodDelete, s.path(""), nil, nil)
}
