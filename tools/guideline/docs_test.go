package guideline

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestEveryFactIsDocumented holds the page against the vocabulary.
func TestEveryFactIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/GUIDELINES.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range NewVocabulary().Names() {
		kind := string(n.Kind)
		if n.Kind == List {
			kind = "list"
		}
		if want := fmt.Sprintf("| `%s` | %s | %s |", n.Name, kind, n.Meaning); !strings.Contains(string(text), want) {
			t.Errorf("docs/GUIDELINES.md lacks the line %s", want)
		}
	}
}
