package dataset_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"bordereau/governance/dataset"
)

func TestStandardProfileHoldsNoSecret(t *testing.T) {
	t.Parallel()
	s, db := open(t, t.TempDir())
	importFile(t, s, write(t, "a.ndjson", `{"type":"submission","id":"S-1","workflow":"W","status":"received","insured_name":"Jo 111-22-3333","received_at":"2026-08-02T00:00:00Z"}
{"type":"document","id":"D-1","submission_id":"S-1","document_type":"driver_list","filename":"ssn 111223333.pdf"}
{"type":"row","id":"R-1","document_id":"D-1","table":"drivers","index":1}
{"type":"row","id":"R-2","document_id":"D-1","table":"losses","index":1}
{"type":"field","id":"F-1","document_id":"D-1","row_id":"R-1","field":"license_number","value":"n123-4567-8901","extracted_at":"2026-08-02T00:00:00Z"}
{"type":"field","id":"F-2","document_id":"D-1","row_id":"R-1","field":"date_of_birth","value":"07/04/1976","extracted_at":"2026-08-02T00:00:00Z"}
{"type":"field","id":"F-3","document_id":"D-1","row_id":"R-1","field":"ssn","value":"111-22-3333","extracted_at":"2026-08-02T00:00:00Z"}
{"type":"field","id":"F-4","document_id":"D-1","field":"named_insured_fein","value":"12-3456789","extracted_at":"2026-08-02T00:00:00Z"}
{"type":"field","id":"F-5","document_id":"D-1","row_id":"R-2","field":"description","value":"claimant 111–22–3333 (born 7/4/1976), FEIN 12-3456789, policy 12-3456789","extracted_at":"2026-08-02T00:00:00Z"}
{"type":"field","id":"F-6","document_id":"D-1","field":"Driver_LicenseNumberIdentifier_A","value":"N123 4567 8901","extracted_at":"2026-08-02T00:00:00Z"}
{"type":"field","id":"F-7","document_id":"D-1","field":"taxID","value":"1234","extracted_at":"2026-08-02T00:00:00Z"}
{"type":"edit","id":"E-1","field_id":"F-3","from":"111-22-3333","to":"111-22-3334","by":"pat","source":"human","at":"2026-08-03T00:00:00Z","reason":"was 111 22 3333"}
{"type":"edit","id":"E-2","field_id":"F-2","from":"07/04/1976","to":"1976-07-04","by":"pat","source":"human","at":"2026-08-03T00:00:00Z"}`))

	var key string
	if err := db.QueryRowContext(t.Context(), "SELECT mask_key FROM dataset_orgs WHERE org = $1", "acme").Scan(&key); err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	token := func(v string) string {
		h := hmac.New(sha256.New, raw)
		h.Write([]byte(v))
		return hex.EncodeToString(h.Sum(nil))[:16]
	}
	want(t, ask(t, s, dataset.Standard, "SELECT field_id, value FROM extracted_fields ORDER BY 1"),
		"F-1|***8901~"+token("N12345678901"), "F-2|1976-**-**~"+token("1976-07-04"), "F-3|***3334~"+token("111223334"), "F-4|***6789~"+token("123456789"),
		"F-5|claimant ***-**-3333 (born **/**/1976), FEIN *****6789, policy 12-3456789", "F-6|***8901~"+token("N12345678901"), "F-7|***~"+token("1234"))
	want(t, ask(t, s, dataset.Standard, "SELECT d.license_number = f.value, date_of_birth::VARCHAR FROM drivers d, extracted_fields f WHERE f.field_id = 'F-6'"), "true|1976-01-01")
	want(t, ask(t, s, dataset.Standard, "SELECT from_value, to_value, reason FROM field_edits ORDER BY edit_id"),
		"***3333~"+token("111223333")+"|***3334~"+token("111223334")+"|was ***-**-3333", "1976-**-**~"+token("1976-07-04")+"|1976-**-**~"+token("1976-07-04")+"|<nil>")
	want(t, ask(t, s, dataset.Standard, "SELECT insured_name FROM submissions UNION ALL SELECT filename FROM documents"), "Jo ***-**-3333", "ssn *****3333.pdf")
	want(t, ask(t, s, dataset.Full, "SELECT license_number, date_of_birth::VARCHAR FROM drivers"), "n123-4567-8901|1976-07-04")

	p, release, err := s.Pin(t.Context(), "acme", dataset.Standard)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	file, err := os.ReadFile(p.Path)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for relation, rows := range everything(t, s, dataset.Standard) {
		all.WriteString(relation + strings.Join(rows, "\n"))
	}
	for _, secret := range []string{"111-22", "111223333", "4567-8901", "4567 8901", "07/04/1976", "1976-07-04", "7/4/1976", key} {
		if strings.Contains(string(file), secret) || strings.Contains(all.String(), secret) {
			t.Errorf("the masked file holds %q", secret)
		}
	}
}
