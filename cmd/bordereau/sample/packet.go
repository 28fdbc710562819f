package sample

import "bordereau/tools/reconcile"

// Packet is the submission as reconciliation would read it from governed data.
func (s *Submission) Packet() *reconcile.Packet {
	p := &reconcile.Packet{
		ID: s.ID, Workflow: s.Workflow, Status: s.Status, Insured: s.Insured, Broker: s.Broker, Carrier: s.Carrier, Line: "commercial_auto",
		Effective: s.Effective, Expiry: s.Expiry, Received: s.Received, AuditID: "A-sample",
	}
	for _, f := range s.Documents {
		d := reconcile.Document{ID: f.ID, Type: f.Kind, Filename: f.Name, Pages: f.Pages, Received: f.Received}
		for _, spot := range f.Spots {
			field := reconcile.Field{ID: spot.ID, DocumentID: f.ID, Name: spot.Field, Original: spot.Value, Value: spot.Current(), Confidence: spot.Confidence, Page: spot.Page, Box: spot.Box}
			if spot.Row != nil {
				field.RowID, field.Table, field.RowIndex = spot.Row.ID, spot.Row.Table, spot.Row.Index
			}
			for _, e := range spot.Edits {
				field.EditedBy = e.By
				field.ByHuman = field.ByHuman || e.Source == "human"
			}
			d.Fields = append(d.Fields, field)
		}
		p.Documents = append(p.Documents, d)
	}
	return p
}
