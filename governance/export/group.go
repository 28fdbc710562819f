package export

import (
	"maps"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// group is a Parquet group that keeps its fields in the order of the columns; parquet.Group sorts them by name.
type group struct {
	parquet.Group // what a group is beside its fields
	fields        []parquet.Field
}

func (g *group) add(name string, n parquet.Node) { g.fields = append(g.fields, field{n, name}) }

// Fields returns the fields in their order.
func (g *group) Fields() []parquet.Field { return g.fields }

// String names the node in error messages of the library.
func (g *group) String() string { return "group" }

// GoType is a map: a struct could not have every name that a column can have.
func (g *group) GoType() reflect.Type { return reflect.TypeFor[map[string]any]() }

type field struct {
	parquet.Node
	name string
}

// Name returns the column's name.
func (f field) Name() string { return f.name }

// Value is never asked for, since rows are written as values with levels.
func (f field) Value(base reflect.Value) reflect.Value { return base.MapIndex(reflect.ValueOf(f.name)) }

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
