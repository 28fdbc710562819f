// Package openapitest holds a part's OpenAPI description against what the part serves.
package openapitest

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// Part is a description and what it is of.
type Part struct {
	Description []byte         // YAML with paths and components.schemas
	Patterns    []string       // that are served, as http.ServeMux has them, with their methods
	Types       map[string]any // a value of the type that each schema describes
	Requests    []string       // schemas of what is sent: what they require is not what is always there
}

// Check compares addresses with addresses, and the properties of each schema with the fields of its type.
func Check(t *testing.T, p Part) {
	t.Helper()
	var doc struct {
		Paths      map[string]map[string]yaml.Node `yaml:"paths"`
		Components struct {
			Schemas map[string]struct {
				Required   []string             `yaml:"required"`
				Properties map[string]yaml.Node `yaml:"properties"`
			} `yaml:"schemas"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(p.Description, &doc); err != nil {
		t.Fatal(err)
	}
	var described []string
	for path, methods := range doc.Paths {
		for method := range methods {
			if method != "parameters" {
				described = append(described, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(described)
	if diff := cmp.Diff(slices.Sorted(slices.Values(p.Patterns)), described); diff != "" {
		t.Errorf("served (-) and described (+) differ:\n%s", diff)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(p.Types)), slices.Sorted(maps.Keys(doc.Components.Schemas))); diff != "" {
		t.Errorf("types (-) and schemas (+) differ:\n%s", diff)
	}
	for name, v := range p.Types {
		all, always := fields(reflect.TypeOf(v))
		schema := doc.Components.Schemas[name]
		if diff := cmp.Diff(all, slices.Sorted(maps.Keys(schema.Properties))); diff != "" {
			t.Errorf("%s: type (-) and description (+) differ:\n%s", name, diff)
		}
		if diff := cmp.Diff(always, slices.Sorted(slices.Values(schema.Required))); diff != "" && !slices.Contains(p.Requests, name) {
			t.Errorf("%s: always there (-) and required (+) differ:\n%s", name, diff)
		}
	}
}

// fields are the names that a type has as JSON, and those of them that are always there.
func fields(t reflect.Type) (all, always []string) {
	for f := range t.Fields() {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && key == "":
			inner, innerAlways := fields(f.Type)
			all, always = append(all, inner...), append(always, innerAlways...)
		case key == "-" || !f.IsExported():
		default:
			all = append(all, key)
			if options != "omitempty" {
				always = append(always, key)
			}
		}
	}
	slices.Sort(all)
	slices.Sort(always)
	return all, always
}
