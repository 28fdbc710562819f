package guest

import (
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// run starts one command, moves its bytes and returns when it and all it started are gone.
func run(c *conn, p *processes, req Request) End {
	name, refused, code := lookUp(req)
	if refused != "" {
		if code != 0 {
			_ = c.send(frameStderr, []byte(refused+"\n"))
			return End{Code: code}
		}
		return End{Refused: refused}
	}
	var pipes [3][2]*os.File
	for i := range pipes {
		r, w, err := os.Pipe()
		if err != nil {
			return End{Refused: "no pipe: " + err.Error()}
		}
		defer r.Close()
		defer w.Close()
		pipes[i] = [2]*os.File{r, w}
	}
	child, err := p.start(name, req, []uintptr{pipes[0][0].Fd(), pipes[1][1].Fd(), pipes[2][1].Fd()})
	if err != nil {
		text, code := "can't run "+req.Args[0]+": "+err.Error(), 126
		_ = c.send(frameStderr, []byte(text+"\n"))
		return End{Code: code}
	}
	pipes[0][0].Close()
	pipes[1][1].Close()
	pipes[2][1].Close()

	var truncated atomic.Bool
	var pumps sync.WaitGroup
	pumps.Go(func() { pump(c, frameStdout, pipes[1][0], req.OutputBytes, &truncated) })
	pumps.Go(func() { pump(c, frameStderr, pipes[2][0], req.OutputBytes, &truncated) })
	go control(c, pipes[0][1], func() { p.kill(child) })

	status := <-child.ended
	p.finish(child)
	flushed := make(chan struct{})
	go func() { pumps.Wait(); close(flushed) }()
	limit := time.NewTimer(2 * time.Second)
	defer limit.Stop()
	select {
	case <-flushed:
	case <-limit.C: // something still holds the pipes open; what it may write belongs to nobody
		pipes[1][0].Close()
		pipes[2][0].Close()
		<-flushed
	}
	end := End{Code: status.ExitStatus(), Truncated: truncated.Load()}
	if status.Signaled() {
		end.Code = 128 + int(status.Signal())
	}
	return end
}

// pump moves output outside, up to limit bytes, and throws the rest away so that the program does not block.
func pump(c *conn, kind byte, from *os.File, limit int64, truncated *atomic.Bool) {
	buf, free := frame()
	defer free()
	for {
		n, err := from.Read(buf)
		if n > 0 {
			keep := min(int64(n), limit)
			limit -= keep
			if keep < int64(n) {
				truncated.Store(true)
			}
			if keep > 0 && c.send(kind, buf[:keep]) != nil {
				limit = 0
			}
		}
		if err != nil {
			return
		}
	}
}

// control takes standard input and the kill. A connection that ends is a kill: nobody waits for this command any more.
func control(c *conn, stdin *os.File, kill func()) {
	input := make(chan []byte, 1)
	defer close(input)
	go func() {
		defer stdin.Close()
		for b := range input {
			if b == nil {
				return
			}
			_, _ = stdin.Write(b) // a program may close its input early
			if c.send(frameAck, nil) != nil {
				return
			}
		}
	}()
	buf, free := frame()
	defer free()
	for {
		kind, payload, err := c.receive(buf)
		if err != nil {
			kill()
			return
		}
		var next []byte
		switch kind {
		case frameKill:
			kill()
			continue
		case frameStdin:
			next = append([]byte{}, payload...)
		case frameEOF:
		default:
			continue
		}
		select {
		case input <- next:
		default: // more than one piece without an ack: the outside does not keep to the rules
			kill()
			return
		}
	}
}

// lookUp finds the program. A code means that the refusal is the command's result, as a shell would give it.
func lookUp(req Request) (name, refused string, code int) {
	if len(req.Args) == 0 || req.Args[0] == "" {
		return "", "no program to run", 0
	}
	if st, err := os.Stat(req.Dir); err != nil || !st.IsDir() {
		return "", "no such folder: " + req.Dir, 0
	}
	name = req.Args[0]
	if strings.Contains(name, "/") {
		if !strings.HasPrefix(name, "/") {
			name = req.Dir + "/" + name
		}
		if _, err := os.Stat(name); err != nil {
			return "", req.Args[0] + ": not found", 127
		}
		return name, "", 0
	}
	for dir := range strings.SplitSeq(value(req.Env, "PATH"), ":") {
		full := dir + "/" + name
		if st, err := os.Stat(full); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return full, "", 0
		}
	}
	return "", name + ": command not found", 127
}

func value(env []string, key string) string {
	for _, e := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(e, key+"="); ok {
			return v
		}
	}
	return ""
}
