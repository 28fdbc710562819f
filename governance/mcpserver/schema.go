package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"bordereau/governance/fault"
)

// takes is what a tool takes. The library refuses arguments that don't fit; this says why in words that a model can act on.
type takes struct {
	schema *jsonschema.Schema
	names  []string
}

func newTakes(name string, raw json.RawMessage) (takes, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return takes{}, fmt.Errorf("mcpserver: the schema of %s: %w", name, err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("mem:///"+name, doc); err != nil {
		return takes{}, fmt.Errorf("mcpserver: the schema of %s: %w", name, err)
	}
	schema, err := compiler.Compile("mem:///" + name)
	if err != nil {
		return takes{}, fmt.Errorf("mcpserver: the schema of %s: %w", name, err)
	}
	return takes{schema: schema, names: slices.Sorted(maps.Keys(schema.Properties))}, nil
}

// refuse says what is wrong with arguments that the library has refused.
func (t takes) refuse(name string, arguments any) *fault.Error {
	f := &fault.Error{
		Code: fault.Invalid, Component: component, Message: "the arguments of " + name + " don't fit its input schema",
		Hint: name + " takes " + strings.Join(t.names, ", "),
	}
	raw, err := json.Marshal(arguments)
	if err != nil || arguments == nil {
		raw = []byte("{}")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return f
	}
	if wrong, ok := errors.AsType[*jsonschema.ValidationError](t.schema.Validate(value)); ok {
		f.Message = "the arguments of " + name + " are wrong: " + strings.Join(leaves(wrong, nil), "; ")
	}
	return f
}

// maxLeaves bounds how many mistakes are told at once.
const maxLeaves = 5

func leaves(e *jsonschema.ValidationError, out []string) []string {
	if len(out) >= maxLeaves {
		return out
	}
	if len(e.Causes) == 0 {
		at := ""
		if len(e.InstanceLocation) > 0 {
			at = strings.Join(e.InstanceLocation, ".") + ": "
		}
		text := at + e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		return append(out, strings.ToValidUTF8(text[:min(len(text), 300)], ""))
	}
	for _, c := range e.Causes {
		out = leaves(c, out)
	}
	return out
}
