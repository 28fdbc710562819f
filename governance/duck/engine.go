package duck

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	bind "github.com/duckdb/duckdb-go-bindings"
)

// engine is one DuckDB instance inside a worker process. One path, one instance, one process: DuckDB's instance cache and POSIX
// locks both lose data when that is not so.
type engine struct {
	db   bind.Database
	used *usage

	mu   sync.Mutex
	conn bind.Connection // of the statement that runs
	live bool

	planned  map[string]bool // statements whose plans are good
	own      bind.Connection // of our own statements
	prepared map[string]bind.PreparedStatement
}

// settings are run in this order once the file is open; the last one can't be undone.
func settings(r openRequest) []string {
	return []string{
		"SET autoinstall_known_extensions=false", "SET autoload_known_extensions=false",
		"SET allow_community_extensions=false", "SET allow_persistent_secrets=false",
		fmt.Sprintf("SET memory_limit='%dB'", r.Memory), fmt.Sprintf("SET threads=%d", r.Threads),
		"SET max_temp_directory_size='0B'", "SET TimeZone='UTC'",
		"SET enable_external_access=false",
		"SET disabled_filesystems='LocalFileSystem'", // not accepted when opening
		"SET lock_configuration=true",
	}
}

func openEngine(r openRequest) (*engine, error) {
	e := &engine{}
	path := r.Path
	var config bind.Config
	if bind.CreateConfig(&config) == bind.StateError {
		return nil, errors.New("no configuration")
	}
	defer bind.DestroyConfig(&config)
	if path == "" {
		path = ":memory:"
	} else if bind.SetConfig(config, "access_mode", "READ_ONLY") == bind.StateError {
		return nil, errors.New("read-only access is not understood")
	}
	var message string
	if bind.OpenExt(path, &e.db, config, &message) == bind.StateError {
		return nil, fmt.Errorf("opening: %s", message)
	}
	conn, err := e.connect()
	if err != nil {
		return nil, err
	}
	defer bind.Disconnect(&conn)
	for _, s := range settings(r) {
		var res bind.Result
		state := bind.Query(conn, s, &res)
		message := bind.ResultError(&res)
		bind.DestroyResult(&res)
		if state == bind.StateError {
			return nil, fmt.Errorf("%s: %s", s, message)
		}
	}
	return e, nil
}

func (e *engine) connect() (bind.Connection, error) {
	var conn bind.Connection
	if bind.Connect(e.db, &conn) == bind.StateError {
		return conn, errors.New("no connection")
	}
	return conn, nil
}

// begin opens a connection of the statement's own, so that nothing that a statement might leave behind meets the next one.
func (e *engine) begin() (bind.Connection, func(), error) {
	conn, err := e.connect()
	if err != nil {
		return conn, nil, err
	}
	e.mu.Lock()
	e.conn, e.live = conn, true
	e.mu.Unlock()
	return conn, func() {
		e.mu.Lock()
		e.live = false
		e.mu.Unlock()
		bind.Disconnect(&conn)
	}, nil
}

// interrupt asks the running statement to stop. DuckDB forgets it when the statement has not begun, so callers ask again.
func (e *engine) interrupt() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.live {
		bind.Interrupt(e.conn)
	}
}

// failure is an error of DuckDB's.
type failure struct{ class, message string }

func (f *failure) Error() string { return f.message }

func failed(t bind.ErrorType, message string) error {
	class := classOf(t, message)
	return &failure{class: class, message: shown(class, message)}
}

// prepare compiles one statement; text with more than one is an error of the API's.
func prepare(conn bind.Connection, sql string) (bind.PreparedStatement, error) {
	var stmt bind.PreparedStatement
	if strings.IndexByte(sql, 0) >= 0 {
		return stmt, &failure{class: classStatement, message: "NUL byte"}
	}
	if bind.Prepare(conn, sql, &stmt) == bind.StateError {
		message := bind.PrepareError(stmt)
		bind.DestroyPrepare(&stmt)
		return stmt, failed(bind.ErrorTypeInvalid, message)
	}
	return stmt, nil
}

// prepareOf compiles one statement that must be of a type.
func prepareOf(conn bind.Connection, sql string, want bind.StatementType) (bind.PreparedStatement, error) {
	stmt, err := prepare(conn, sql)
	if err == nil && bind.PreparedStatementType(stmt) != want {
		bind.DestroyPrepare(&stmt)
		err = &failure{class: classStatement, message: "not a SELECT"}
	}
	return stmt, err
}

// answerer takes what a statement gives.
type answerer interface {
	head(columns []column, names []string) error
	rows(batch []byte) error
}

// batchBytes is how much is gathered before a frame is sent.
const batchBytes = 64 << 10

// query streams a statement's rows to out until the end, a limit, or an error.
func (e *engine) query(r queryRequest, out answerer) (doneReport, error) {
	var done doneReport
	conn, end, err := e.begin()
	if err != nil {
		return done, err
	}
	defer end()
	stmt, err := prepareOf(conn, r.SQL, bind.StatementTypeSelect)
	if err == nil && r.Relations != nil {
		if err := e.checkPlan(r.SQL, r.Relations); err != nil {
			bind.DestroyPrepare(&stmt)
			return done, err
		}
	}
	if err == nil && r.Explain { // the text alone was one SELECT, so it can't add to what is before it
		bind.DestroyPrepare(&stmt)
		stmt, err = prepareOf(conn, "EXPLAIN (FORMAT json) "+r.SQL, bind.StatementTypeExplain)
	}
	if err != nil {
		return done, err
	}
	defer bind.DestroyPrepare(&stmt)
	var res bind.Result
	state := bind.ExecutePreparedStreaming(stmt, &res)
	defer bind.DestroyResult(&res)
	if state == bind.StateError {
		return done, failed(bind.ResultErrorType(&res), bind.ResultError(&res))
	}
	columns, err := sendHead(&res, out)
	if err != nil {
		return done, err
	}
	return done, e.fetch(&res, columns, r, out, &done)
}

func sendHead(res *bind.Result, out answerer) ([]column, error) {
	n := int(bind.ColumnCount(res))
	columns, names := make([]column, n), make([]string, n)
	for i := range n {
		c, err := readColumn(bind.ColumnLogicalType(res, bind.IdxT(i)))
		names[i] = bind.ColumnName(res, bind.IdxT(i))
		if err != nil {
			return nil, &failure{class: classStatement, message: fmt.Sprintf("column %d: %s; cast it to VARCHAR", i+1, err)}
		}
		columns[i] = c
	}
	return columns, out.head(columns, names)
}

// fetch sends rows until the stream ends or a limit is met.
func (e *engine) fetch(res *bind.Result, columns []column, r queryRequest, out answerer, done *doneReport) error {
	b := &batcher{out: out, max: r, done: done, buf: make([]byte, 0, batchBytes+4096)}
	for !done.Truncated {
		chunk, err := e.next(res)
		if err != nil {
			return err
		}
		if chunk == nil {
			break
		}
		vectors := make([]vector, len(columns))
		for i := range columns {
			vectors[i] = readVector(&columns[i], bind.DataChunkGetVector(*chunk, bind.IdxT(i)))
		}
		err = b.add(vectors, int(bind.DataChunkGetSize(*chunk)))
		bind.DestroyDataChunk(chunk)
		if err != nil {
			return err
		}
	}
	return b.flush()
}

// next returns the next chunk, nil at the end. DuckDB answers an end and an allocation that failed while it fetched with the same null
// and no word of an error, so an end so near to the memory ceiling is not believed: a wrong answer must not look right.
func (e *engine) next(res *bind.Result) (*bind.DataChunk, error) {
	var chunk bind.DataChunk
	if bind.StreamFetchChunk(*res, &chunk) == bind.StateSuccess && bind.DataChunkGetSize(chunk) > 0 {
		return &chunk, nil
	}
	bind.DestroyDataChunk(&chunk)
	if message := bind.ResultError(res); message != "" {
		return nil, failed(bind.ResultErrorType(res), message)
	}
	if e.used.nearCeiling() {
		return nil, &failure{class: classMemory}
	}
	var again bind.DataChunk
	if bind.StreamFetchChunk(*res, &again) == bind.StateSuccess && bind.DataChunkGetSize(again) > 0 {
		bind.DestroyDataChunk(&again)
		return nil, &failure{class: classMemory}
	}
	bind.DestroyDataChunk(&again)
	return nil, nil
}

// batcher gathers rows into frames within the limits.
type batcher struct {
	out  answerer
	max  queryRequest
	done *doneReport
	buf  []byte
}

func (b *batcher) add(vectors []vector, n int) error {
	for row := range n {
		if b.done.Rows >= b.max.MaxRows {
			b.done.Truncated = true
			return nil
		}
		before := len(b.buf)
		for i := range vectors {
			b.buf = vectors[i].put(b.buf, row)
		}
		size := int64(len(b.buf) - before)
		if b.done.Bytes+size > b.max.MaxBytes {
			b.buf, b.done.Truncated = b.buf[:before], true
			return nil
		}
		b.done.Bytes += size
		b.done.Rows++
		if len(b.buf) >= batchBytes {
			if err := b.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *batcher) flush() error {
	if len(b.buf) == 0 {
		return nil
	}
	err := b.out.rows(b.buf)
	b.buf = b.buf[:0]
	return err
}

// text runs a statement of ours that takes one string and gives one. It is prepared once and kept: the statements are few and touch no data.
func (e *engine) text(sql, argument string) (string, error) {
	stmt, err := e.kept(sql)
	if err != nil {
		return "", err
	}
	value := bind.CreateVarcharLength(argument, bind.IdxT(len(argument)))
	defer bind.DestroyValue(&value)
	if bind.BindValue(stmt, 1, value) == bind.StateError {
		return "", errors.New("binding the argument")
	}
	var res bind.Result
	state := bind.ExecutePrepared(stmt, &res)
	defer bind.DestroyResult(&res)
	if state == bind.StateError {
		return "", failed(bind.ResultErrorType(&res), bind.ResultError(&res))
	}
	chunk := bind.FetchChunk(res)
	defer bind.DestroyDataChunk(&chunk)
	if chunk.Ptr == nil || bind.DataChunkGetSize(chunk) != 1 {
		return "", errors.New("no answer")
	}
	c := column{id: bind.TypeVarchar}
	v := readVector(&c, bind.DataChunkGetVector(chunk, 0))
	if v.null(0) {
		return "", errors.New("no answer")
	}
	return strings.Clone(v.text(0)), nil
}

func (e *engine) kept(sql string) (bind.PreparedStatement, error) {
	if stmt, ok := e.prepared[sql]; ok {
		return stmt, nil
	}
	if e.prepared == nil {
		conn, err := e.connect()
		if err != nil {
			return bind.PreparedStatement{}, err
		}
		e.own, e.prepared = conn, map[string]bind.PreparedStatement{}
	}
	stmt, err := prepare(e.own, sql)
	if err == nil {
		e.prepared[sql] = stmt
	}
	return stmt, err
}

// watch interrupts again and again from when the deadline passes, or id is cancelled, until stop is closed.
func (e *engine) watch(deadline time.Duration, cancel <-chan string, id string, stop <-chan struct{}) {
	timer := time.NewTimer(deadline)
	defer timer.Stop()
	for waiting := true; waiting; {
		select {
		case <-stop:
			return
		case <-timer.C:
			waiting = false
		case c := <-cancel:
			waiting = c != id
		}
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		e.interrupt()
		select {
		case <-stop:
			return
		case <-tick.C:
		}
	}
}
