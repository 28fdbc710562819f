package bordereau_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "bordereau/"

// allowed names, for each part of the tree, the other parts it may import.
// The longest matching prefix wins; a part may always import itself.
var allowed = map[string][]string{
	"cmd":                  {"agent", "governance", "tools", "sandbox", "reports", "migrations", "web"},
	"agent":                {"sandbox", "reports", "governance/turntoken", "migrations"},
	"governance":           {"tools", "migrations"},
	"governance/statement": {"governance/fault"},
	"governance/turntoken": {},
	"tools":                {},
	"sandbox":              {},
	"reports":              {},
	"migrations":           {},
	"web":                  {},
}

// neverLinked names what must not be reachable, even indirectly, from a binary.
var neverLinked = map[string][]string{
	"cmd/sandboxd": {module + "agent", module + "governance", module + "tools", "github.com/duckdb"},
	"cmd/gov":      {module + "agent", module + "governance", module + "sandbox", "github.com/duckdb"},
}

// imports maps each package directory of this module to what it imports.
// It reads the files itself, so the test cache notices when one changes.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || p != "." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := path.Dir(filepath.ToSlash(p))
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if !slices.Contains(all[dir], imp) {
				all[dir] = append(all[dir], imp)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func under(p, part string) bool { return p == part || strings.HasPrefix(p, part+"/") }

func partOf(p string) string {
	best := ""
	for part := range allowed {
		if under(p, part) && len(part) > len(best) {
			best = part
		}
	}
	return best
}

func TestImportDirections(t *testing.T) {
	for from, imps := range imports(t) {
		part := partOf(from)
		for _, imp := range imps {
			to, ours := strings.CutPrefix(imp, module)
			if !ours || under(to, part) {
				continue
			}
			if !slices.ContainsFunc(allowed[part], func(a string) bool { return under(to, a) }) {
				t.Errorf("%s imports %s; %q may import only %v", from, to, part, allowed[part])
			}
		}
	}
}

func TestBinariesStayApart(t *testing.T) {
	all := imports(t)
	for binary, bad := range neverLinked {
		seen := map[string]bool{}
		var walk func(dir string, via []string)
		walk = func(dir string, via []string) {
			for _, imp := range all[dir] {
				if seen[imp] {
					continue
				}
				seen[imp] = true
				chain := append(slices.Clone(via), imp)
				for _, b := range bad {
					// The token and the stamp are what both sides of the boundary share.
					if under(imp, b) && !under(imp, module+"governance/turntoken") {
						t.Errorf("%s links %s", binary, strings.Join(chain, " -> "))
					}
				}
				if dir, ours := strings.CutPrefix(imp, module); ours {
					walk(dir, chain)
				}
			}
		}
		walk(binary, nil)
	}
}
