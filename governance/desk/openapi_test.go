package desk

import (
	"testing"

	"bordereau/governance/guidelines"
	"bordereau/governance/openapitest"
	"bordereau/tools/guideline"
)

func TestDescription(t *testing.T) {
	t.Parallel()
	var served []string
	for _, e := range (&Desk{}).Endpoints() {
		served = append(served, e.Pattern)
	}
	openapitest.Check(t, openapitest.Part{
		Description: Description(), Patterns: served,
		Types: map[string]any{
			"GuidelineList": guidelineList{}, "GuidelineHead": Listed{}, "Guideline": shown{}, "Rule": Rule{}, "NameList": NameList{}, "Name": Name{}, "ChangeList": ChangeList{},
			"Change": guideline.Change{}, "GuidelineText": written{}, "GuidelineCheck": checked{}, "Problem": guideline.Problem{}, "GuidelineTrial": trying{}, "GuidelineTried": tried{},
			"Draft": guidelines.Draft{}, "DraftText": revised{}, "DraftPublish": publishing{}, "GuidelineVersion": guidelines.Version{},
			"RunList": RunList{}, "RunHead": Head{}, "RunShown": RunShown{}, "FindingList": FindingList{}, "FindingShown": FindingShown{}, "Finding": Finding{},
			"Review": Review{}, "Reviewed": Reviewed{}, "WorkbookImported": imported{}, "ReviewConflict": clash{}, "ReviewOther": theirs{},
		},
		Requests: []string{"GuidelineText", "GuidelineTrial", "DraftText", "DraftPublish", "Review"},
	})
}
