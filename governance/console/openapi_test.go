package console

import (
	"testing"

	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/openapitest"
)

func TestDescription(t *testing.T) {
	t.Parallel()
	var served []string
	for _, e := range (&Console{}).Endpoints() {
		served = append(served, e.Pattern)
	}
	openapitest.Check(t, openapitest.Part{
		Description: Description(), Patterns: served,
		Types: map[string]any{
			"FaultBody": failure{}, "Fault": fault.Error{}, "StatementList": statementList{}, "StatementHead": listed{}, "Statement": full{}, "StatementUse": use{}, "StatementCited": cited{},
			"AskerList": peopleList{}, "Asker": person{}, "Query": asking{}, "QueryAnswer": ran{}, "ResultColumn": gate.Column{}, "QueryPlan": planned{},
			"Comparing": comparing{}, "ComparingSide": side{}, "Compared": compared{}, "ComparedSide": comparedSide{}, "ColumnDiff": columnDiff{}, "RowChange": rowChange{},
			"Exporting": exporting{}, "Exported": exported{}, "Schema": schema{}, "SchemaRelation": schemaRelation{}, "SchemaColumn": schemaColumn{},
			"AppliedPolicy": applied{}, "QueryLimits": limits{}, "QueryBudget": budget{}, "QuerySpent": spent{}, "ChainCheck": verifying{}, "ChainVerdict": verdict{},
			"SavedList": savedList{}, "Saved": saved{}, "Saving": saving{},
		},
		Requests: []string{"Query", "Comparing", "ComparingSide", "Exporting", "ChainCheck", "Saving"},
	})
}
