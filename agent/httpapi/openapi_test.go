package httpapi

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bordereau/agent/journal"
	"bordereau/agent/model"
)

type openapiDoc struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas map[string]struct {
			Required   []string                   `json:"required"`
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"schemas"`
	} `json:"components"`
}

func readDoc(t *testing.T) (openapiDoc, string) {
	t.Helper()
	raw, err := description()
	if err != nil {
		t.Fatal(err)
	}
	var d openapiDoc
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	return d, string(raw)
}

// The description has exactly the routes that are served.
func TestOpenAPIRoutes(t *testing.T) {
	t.Parallel()
	d, _ := readDoc(t)
	var described, served []string
	for path, item := range d.Paths {
		for method := range item {
			if method != "parameters" {
				described = append(described, strings.ToUpper(method)+" "+path)
			}
		}
	}
	for _, r := range (&API{}).routes() {
		served = append(served, r.method+" "+regexp.MustCompile(`:(\w+)`).ReplaceAllString(r.path, "{$1}"))
	}
	slices.Sort(described)
	slices.Sort(served)
	if d := cmp.Diff(served, described); d != "" {
		t.Errorf("served (-) and described (+) differ:\n%s", d)
	}
}

// The description says of exactly the public addresses that nobody has to sign in.
func TestOpenAPISecurity(t *testing.T) {
	t.Parallel()
	d, _ := readDoc(t)
	for _, r := range (&API{}).routes() {
		raw := d.Paths[placeholders.ReplaceAllString(r.path, "{$1}")][strings.ToLower(r.method)]
		var operation struct {
			Security *[]any `json:"security"`
		}
		if err := json.Unmarshal(raw, &operation); err != nil {
			t.Errorf("%s %s: %v", r.method, r.path, err)
			continue
		}
		if open := operation.Security != nil && len(*operation.Security) == 0; open != r.access.IsPublic() {
			t.Errorf("%s %s is %s, and described otherwise", r.method, r.path, r.access)
		}
	}
}

// Each schema has the properties of the type that is written or read, and requires what is always there.
func TestOpenAPISchemas(t *testing.T) {
	t.Parallel()
	d, raw := readDoc(t)
	types := map[string]any{
		"ErrorBody": ErrorBody{}, "Error": Error{}, "ChatRequest": ChatRequest{}, "UIMessage": UIMessage{}, "UIPart": UIPart{}, "Stopped": Stopped{}, "ActiveTurn": ActiveTurn{}, "Activity": Activity{},
		"Conversation": Conversation{}, "ConversationList": ConversationList{}, "NewConversation": NewConversation{}, "Rename": Rename{},
		"Message": Message{}, "MessageList": MessageList{}, "Turn": Turn{}, "Outcome": journal.Outcome{}, "TurnList": TurnList{}, "Step": Step{}, "Line": Line{},
		"TurnDetail": TurnDetail{}, "ModelUsage": model.Usage{}, "Charge": Charge{}, "Usage": Usage{}, "Artifact": Artifact{}, "ArtifactList": ArtifactList{},
		"Destination": Destination{}, "Member": Member{}, "Schedule": Schedule{}, "ScheduleDraft": ScheduleDraft{}, "ScheduleList": ScheduleList{}, "ScheduleTimes": ScheduleTimes{},
		"SchedulePreview": SchedulePreview{}, "ScheduleRun": ScheduleRun{}, "ScheduleRunList": ScheduleRunList{}, "Delivery": Delivery{}, "DeliveryAttempt": DeliveryAttempt{},
		"UsageGroup": UsageGroup{}, "UsageList": UsageList{}, "Upload": Upload{}, "UploadList": UploadList{}, "ModelList": ModelList{}, "Me": Me{}, "Healthz": Healthz{},
		"SignedIn": SignedIn{}, "PersonRef": PersonRef{}, "OrganisationRef": OrganisationRef{}, "NewSession": NewSession{},
		"LinkCheck": LinkCheck{}, "Invitation": Invitation{}, "UseLink": UseLink{},
		"Methods": Methods{}, "Session": Session{}, "SessionList": SessionList{}, "Ended": Ended{}, "PasswordChange": PasswordChange{},
		"Person": Person{}, "PersonList": PersonList{}, "NewPerson": NewPerson{}, "Link": Link{}, "Invited": Invited{}, "PersonChange": PersonChange{},
		"Key": Key{}, "KeyList": KeyList{}, "NewKey": NewKey{}, "IssuedKey": IssuedKey{}, "AdminEntry": AdminEntry{}, "AdminLog": AdminLog{},
		"LogCheck": LogCheck{}, "LogVerdict": LogVerdict{},
	}
	for name := range d.Components.Schemas {
		if types[name] == nil {
			t.Errorf("schema %s describes no type", name)
		}
	}
	requests := []string{"LogCheck", "ScheduleDraft", "ScheduleTimes", "ChatRequest", "UIMessage", "UIPart", "NewConversation", "Rename", "NewSession", "LinkCheck", "UseLink", "PasswordChange", "NewPerson", "PersonChange", "NewKey"}
	for name, v := range types {
		schema, ok := d.Components.Schemas[name]
		if !ok {
			t.Errorf("type %s is not described", name)
			continue
		}
		var all, always []string
		for f := range fields(reflect.TypeOf(v)) {
			key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if key == "-" || !f.IsExported() {
				continue
			}
			all = append(all, key)
			if options != "omitempty" {
				always = append(always, key)
			}
		}
		slices.Sort(all)
		slices.Sort(always)
		if diff := cmp.Diff(all, slices.Sorted(maps.Keys(schema.Properties))); diff != "" {
			t.Errorf("%s: type (-) and description (+) differ:\n%s", name, diff)
		}
		if diff := cmp.Diff(always, slices.Sorted(slices.Values(schema.Required))); diff != "" && !slices.Contains(requests, name) {
			t.Errorf("%s: always there (-) and required (+) differ:\n%s", name, diff)
		}
	}
	for _, m := range regexp.MustCompile(`"\$ref":"#/components/(\w+)/(\w+)"`).FindAllStringSubmatch(raw, -1) {
		if m[1] == "schemas" && types[m[2]] == nil {
			t.Errorf("a reference to %s leads nowhere", m[2])
		}
	}
}

func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for field := range t.Fields() {
			if !yield(field) {
				return
			}
		}
	}
}

func TestOpenAPIServed(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	var d openapiDoc
	r.get(request{method: "GET", path: "/openapi.json"}, 200, &d)
	if len(d.Paths) == 0 {
		t.Error("no paths")
	}
}
