package duck

import (
	"fmt"
	"strings"

	bind "github.com/duckdb/duckdb-go-bindings"
)

// column knows how to read one column's vectors, children included.
type column struct {
	id       bind.Type
	name     string    // DuckDB's name of the type
	internal bind.Type // what a decimal or enum is stored as
	scale    int
	size     int // of an array
	enum     []string
	fields   []string
	children []column
}

// simpleName names the types that have no parameters.
func simpleName(id bind.Type) string {
	switch id {
	case bind.TypeBoolean:
		return "BOOLEAN"
	case bind.TypeTinyInt:
		return "TINYINT"
	case bind.TypeSmallInt:
		return "SMALLINT"
	case bind.TypeInteger:
		return "INTEGER"
	case bind.TypeBigInt:
		return "BIGINT"
	case bind.TypeUTinyInt:
		return "UTINYINT"
	case bind.TypeUSmallInt:
		return "USMALLINT"
	case bind.TypeUInteger:
		return "UINTEGER"
	case bind.TypeUBigInt:
		return "UBIGINT"
	case bind.TypeHugeInt:
		return "HUGEINT"
	case bind.TypeUHugeInt:
		return "UHUGEINT"
	case bind.TypeFloat:
		return "FLOAT"
	case bind.TypeDouble:
		return "DOUBLE"
	case bind.TypeVarchar:
		return "VARCHAR"
	case bind.TypeBlob:
		return "BLOB"
	case bind.TypeDate:
		return "DATE"
	case bind.TypeTime:
		return "TIME"
	case bind.TypeTimeTZ:
		return "TIME WITH TIME ZONE"
	case bind.TypeTimestamp:
		return "TIMESTAMP"
	case bind.TypeTimestampS:
		return "TIMESTAMP_S"
	case bind.TypeTimestampMS:
		return "TIMESTAMP_MS"
	case bind.TypeTimestampNS:
		return "TIMESTAMP_NS"
	case bind.TypeTimestampTZ:
		return "TIMESTAMP WITH TIME ZONE"
	case bind.TypeInterval:
		return "INTERVAL"
	case bind.TypeUUID:
		return "UUID"
	case bind.TypeSQLNull:
		return "NULL"
	}
	return ""
}

// readColumn learns a type. It destroys t.
func readColumn(t bind.LogicalType) (column, error) {
	defer bind.DestroyLogicalType(&t)
	c := column{id: bind.GetTypeId(t), name: simpleName(bind.GetTypeId(t))}
	var err error
	switch c.id {
	case bind.TypeVarchar:
		if alias := bind.LogicalTypeGetAlias(t); alias == "JSON" {
			c.name = alias
		}
	case bind.TypeDecimal:
		c.scale, c.internal = int(bind.DecimalScale(t)), bind.DecimalInternalType(t)
		c.name = fmt.Sprintf("DECIMAL(%d,%d)", bind.DecimalWidth(t), c.scale)
	case bind.TypeEnum:
		c.internal, c.name = bind.EnumInternalType(t), "ENUM"
		for i := range bind.EnumDictionarySize(t) {
			c.enum = append(c.enum, bind.EnumDictionaryValue(t, bind.IdxT(i)))
		}
	case bind.TypeList:
		err = c.child(bind.ListTypeChildType(t))
		if err == nil {
			c.name = c.children[0].name + "[]"
		}
	case bind.TypeArray:
		c.size = int(bind.ArrayTypeArraySize(t))
		err = c.child(bind.ArrayTypeChildType(t))
		if err == nil {
			c.name = fmt.Sprintf("%s[%d]", c.children[0].name, c.size)
		}
	case bind.TypeMap:
		if err = c.child(bind.MapTypeKeyType(t)); err == nil {
			err = c.child(bind.MapTypeValueType(t))
		}
		if err == nil {
			c.name = fmt.Sprintf("MAP(%s, %s)", c.children[0].name, c.children[1].name)
		}
	case bind.TypeStruct:
		parts := []string{}
		for i := range bind.StructTypeChildCount(t) {
			if err = c.child(bind.StructTypeChildType(t, i)); err != nil {
				break
			}
			c.fields = append(c.fields, bind.StructTypeChildName(t, i))
			parts = append(parts, quoteField(c.fields[i])+" "+c.children[i].name)
		}
		c.name = "STRUCT(" + strings.Join(parts, ", ") + ")"
	}
	if err == nil && c.name == "" {
		err = fmt.Errorf("columns of this type (%d) can't be returned", int(c.id))
	}
	return c, err
}

func (c *column) child(t bind.LogicalType) error {
	sub, err := readColumn(t)
	c.children = append(c.children, sub)
	return err
}

// quoteField writes a struct's field name as DuckDB does.
func quoteField(name string) string {
	plain := name != ""
	for _, r := range name {
		plain = plain && (r >= 'a' && r <= 'z' || r == '_' || r >= '0' && r <= '9')
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
