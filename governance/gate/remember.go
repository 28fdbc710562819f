package gate

import (
	"container/list"
	"sync"

	"bordereau/governance/policy"
	"bordereau/governance/statement"
)

// memory keeps what became of the latest statements that passed, so that a question asked again is not read again. What it keeps depends
// on nothing but the key and the gate's policy, which never changes.
type memory struct {
	max int

	mu    sync.Mutex
	byKey map[memoryKey]*list.Element
	order *list.List // most recently used first
}

type memoryKey struct {
	role, sql string
	rows      int
}

// passed is a statement that may run.
type passed struct {
	key       memoryKey
	read, run *statement.Statement // without their trees
	decision  policy.Decision
}

// remembered is how many statements are kept.
const remembered = 256

func newMemory() *memory {
	return &memory{max: remembered, byKey: map[memoryKey]*list.Element{}, order: list.New()}
}

func (m *memory) get(k memoryKey) (passed, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.byKey[k]
	if !ok {
		return passed{}, false
	}
	m.order.MoveToFront(e)
	p, ok := e.Value.(passed)
	return p, ok
}

func (m *memory) put(p passed) {
	p.read, p.run = p.read.Leaves(), p.run.Leaves()
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.byKey[p.key]; ok {
		return
	}
	m.byKey[p.key] = m.order.PushFront(p)
	if m.order.Len() > m.max {
		last := m.order.Back()
		if old, ok := m.order.Remove(last).(passed); ok {
			delete(m.byKey, old.key)
		}
	}
}
