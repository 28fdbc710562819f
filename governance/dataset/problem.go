package dataset

import (
	"fmt"
	"strings"

	"bordereau/governance/dataset/record"
	"bordereau/governance/fault"
)

// ImportError is an import that was refused. Nothing changed.
type ImportError struct {
	Problems []record.Problem // at most 20
}

func (e *ImportError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "import refused, nothing changed: %d problem", len(e.Problems))
	if len(e.Problems) != 1 {
		b.WriteByte('s')
	}
	for _, p := range e.Problems {
		b.WriteString("\n  " + p.String())
	}
	return b.String()
}

// Unwrap returns the refusal as every face of governance shows it.
func (e *ImportError) Unwrap() error {
	return &fault.Error{
		Code: fault.Invalid, Component: "dataset", Message: "import refused, nothing changed: " + e.Problems[0].String(),
		Hint: "mend the file and import it again; what is there already is passed over",
	}
}
