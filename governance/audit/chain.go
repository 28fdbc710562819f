package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
)

// row is an entry as its columns are stored, in the order that is hashed and inserted.
type row struct {
	org                                    string
	seq                                    int64
	auditID, event                         string
	atUS                                   int64
	subject, role, via, conversation, turn string
	epoch                                  int64
	sandbox, requestKey, sqlAsked, sqlRun  string
	decision, rule, relations, columns     string
	profile, generation, sha256            string
	rows, bytes, truncated                 int64
	queueUS, runUS                         int64
	outcome                                string
	message, hint                          string
	position                               int64
	prevHash, hash                         string
}

const columnList = `org, seq, audit_id, event, at_us, subject, role, via, conversation, turn, epoch, sandbox, request_key, sql_asked, sql_run,
 decision, rule, relations, columns, profile, generation, sha256, row_count, byte_count, truncated, queue_us, run_us, outcome, message, hint, position,
 prev_hash, hash`

func (r *row) head() []any {
	return []any{
		&r.org, &r.seq, &r.auditID, &r.event, &r.atUS, &r.subject, &r.role, &r.via, &r.conversation, &r.turn, &r.epoch, &r.sandbox,
		&r.requestKey, &r.sqlAsked, &r.sqlRun, &r.decision, &r.rule, &r.relations, &r.columns, &r.profile, &r.generation, &r.sha256,
		&r.rows, &r.bytes, &r.truncated, &r.queueUS, &r.runUS, &r.outcome,
	}
}

func (r *row) said() []any { return []any{&r.message, &r.hint, &r.position} }

func (r *row) all() []any { return slices.Concat(r.head(), r.said(), []any{&r.prevHash, &r.hash}) }

// hashed is what the hash is over. What was said is part of it where something was: chains are older than those columns.
func (r *row) hashed() []any {
	all := append(r.head(), &r.prevHash)
	if r.message == "" && r.hint == "" && r.position == 0 {
		return all
	}
	return append(all, r.said()...)
}

// sum is the hash of a row: each column with its length before it, so that nothing can move from one to the next.
func (r *row) sum() string {
	h := sha256.New()
	var n [8]byte
	for _, f := range r.hashed() {
		var b []byte
		switch x := f.(type) {
		case *string:
			b = []byte(*x)
		case *int64:
			b = binary.BigEndian.AppendUint64(nil, uint64(*x))
		}
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func list(names []string) (string, error) {
	if len(names) == 0 {
		return "[]", nil
	}
	raw, err := json.Marshal(names)
	return string(raw), err
}

func rowOf(e Entry) (row, error) {
	relations, err := list(e.Relations)
	if err != nil {
		return row{}, err
	}
	columns, err := list(e.Columns)
	if err != nil {
		return row{}, err
	}
	r := row{
		org: clean(e.Org), auditID: clean(e.AuditID), event: e.Event, atUS: e.At.UnixMicro(), subject: clean(e.Subject), role: clean(e.Role),
		via: clean(e.Via), conversation: clean(e.Conversation), turn: clean(e.Turn), epoch: e.Epoch, sandbox: clean(e.Sandbox),
		requestKey: clean(e.RequestKey), sqlAsked: clean(e.SQLAsked), sqlRun: clean(e.SQLRun), decision: e.Decision, rule: clean(e.Rule),
		relations: clean(relations), columns: clean(columns), profile: clean(e.Profile), generation: clean(e.Generation), sha256: e.SHA256,
		rows: e.Rows, bytes: e.Bytes, queueUS: e.Queue.Microseconds(), runUS: e.Run.Microseconds(), outcome: e.Outcome,
		message: clean(e.Message), hint: clean(e.Hint), position: e.Position,
	}
	if e.Truncated {
		r.truncated = 1
	}
	return r, nil
}

func (r *row) entry() (Entry, error) {
	e := Entry{
		Org: r.org, Seq: r.seq, AuditID: r.auditID, Event: r.event, At: time.UnixMicro(r.atUS).UTC(), Subject: r.subject, Role: r.role, Via: r.via,
		Conversation: r.conversation, Turn: r.turn, Epoch: r.epoch, Sandbox: r.sandbox, RequestKey: r.requestKey, SQLAsked: r.sqlAsked,
		SQLRun: r.sqlRun, Decision: r.decision, Rule: r.rule, Profile: r.profile, Generation: r.generation, SHA256: r.sha256, Rows: r.rows,
		Bytes: r.bytes, Truncated: r.truncated != 0, Queue: time.Duration(r.queueUS) * time.Microsecond,
		Run: time.Duration(r.runUS) * time.Microsecond, Outcome: r.outcome, Message: r.message, Hint: r.hint, Position: r.position, PrevHash: r.prevHash, Hash: r.hash,
	}
	if err := json.Unmarshal([]byte(r.relations), &e.Relations); err != nil {
		return e, err
	}
	return e, json.Unmarshal([]byte(r.columns), &e.Columns)
}
