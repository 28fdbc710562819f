package guideline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// condition is one compiled CEL expression over the facts and parameters.
type condition struct {
	text    string
	program cel.Program
	facts   []string // the facts it mentions, sorted
	params  []string // the parameters it mentions, without "param."
}

// compiler turns the texts of one guideline into programs: one environment a scope.
type compiler struct {
	vocab *Vocabulary
	envs  map[Scope]*cel.Env
}

func newCompiler(v *Vocabulary, params []Parameter) (*compiler, error) {
	c := &compiler{vocab: v, envs: map[Scope]*cel.Env{}}
	for _, scope := range Scopes() {
		var opts []cel.EnvOption
		for _, n := range v.visible(scope) {
			opts = append(opts, cel.Variable(n.Name, n.Kind.cel()))
		}
		for _, p := range params {
			opts = append(opts, cel.Variable("param."+p.Name, kindOf(p.Value).cel()))
		}
		env, err := cel.NewEnv(opts...)
		if err != nil {
			return nil, fmt.Errorf("guideline: the names of scope %s: %w", scope, err)
		}
		c.envs[scope] = env
	}
	return c, nil
}

// fault is what is wrong in an expression, and where in it.
type fault struct {
	line    int // 1 is the expression's first
	column  int // 0 is the line's first
	message string
}

func (c *compiler) compile(scope Scope, text string) (*condition, []fault) {
	env, ok := c.envs[scope]
	if !ok {
		return nil, nil // The unknown scope is reported by itself.
	}
	checked, iss := env.Compile(text)
	if iss != nil && iss.Err() != nil {
		var faults []fault
		for _, e := range iss.Errors() {
			faults = append(faults, fault{e.Location.Line(), e.Location.Column(), c.explain(scope, e.Message, dotted(text, e.Location.Line(), e.Location.Column()))})
		}
		return nil, faults
	}
	if checked.OutputType() != cel.BoolType {
		return nil, []fault{{1, 0, fmt.Sprintf("the condition is of type %s, not bool", checked.OutputType())}}
	}
	program, err := env.Program(checked, cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, []fault{{1, 0, err.Error()}}
	}
	cond := &condition{text: text, program: program}
	for name := range names(checked) {
		if p, is := strings.CutPrefix(name, "param."); is {
			cond.params = append(cond.params, p)
		} else if _, known := c.vocab.index[name]; known {
			cond.facts = append(cond.facts, name)
		}
	}
	slices.Sort(cond.facts)
	slices.Sort(cond.params)
	return cond, nil
}

// explain says in our words what CEL says of a name that it doesn't know.
func (c *compiler) explain(scope Scope, message, name string) string {
	if !strings.HasPrefix(message, "undeclared reference") || name == "" {
		return message
	}
	if n, ok := c.vocab.Lookup(name); ok && n.Scope != Submission && n.Scope != scope {
		return fmt.Sprintf("unknown name '%s'; facts of a %s can't be used by a rule of scope %s", name, n.Scope, scope)
	}
	return fmt.Sprintf("unknown name '%s'", name)
}

// dotted returns the qualified name at a place in an expression.
func dotted(text string, line, column int) string {
	lines := strings.Split(text, "\n")
	if line < 1 || line > len(lines) || column < 0 || column > len(lines[line-1]) {
		return ""
	}
	rest := lines[line-1][column:]
	end := strings.IndexFunc(rest, func(r rune) bool {
		return r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if end < 0 {
		end = len(rest)
	}
	return strings.TrimRight(rest[:end], ".")
}

// names lists the qualified names that a checked expression refers to.
func names(checked *cel.Ast) map[string]bool {
	found := map[string]bool{}
	native := checked.NativeRep()
	for _, ref := range native.ReferenceMap() {
		if ref.Name != "" && ref.Value == nil && len(ref.OverloadIDs) == 0 {
			found[ref.Name] = true
		}
	}
	ast.PostOrderVisit(native.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind {
			found[e.AsIdent()] = true
		}
	}))
	return found
}

func kindOf(v any) Kind {
	switch v.(type) {
	case int64:
		return Int
	case float64:
		return Double
	case bool:
		return Bool
	case []string:
		return List
	default:
		return String
	}
}

// result is a condition's answer: known, or not for want of the facts listed.
type result struct {
	known   bool
	value   bool
	missing []string
}

func (c *condition) eval(f *Facts) (result, error) {
	val, _, err := c.program.Eval(f)
	if err != nil {
		return result{}, fmt.Errorf("guideline: %s: %w", c.text, err)
	}
	switch v := val.(type) {
	case types.Bool:
		return result{known: true, value: bool(v)}, nil
	case *types.Unknown:
		r := result{}
		for _, id := range v.IDs() {
			trails, _ := v.GetAttributeTrails(id)
			for _, t := range trails {
				r.missing = append(r.missing, t.Variable())
			}
		}
		slices.Sort(r.missing)
		r.missing = slices.Compact(r.missing)
		return r, nil
	default:
		return result{}, fmt.Errorf("guideline: %s: evaluated to %v, not to true or false", c.text, val)
	}
}
