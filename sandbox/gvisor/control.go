package gvisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// control asks a running kernel itself, over the socket and in the words that runsc's own commands use: a start of runsc, which does
// nothing else, would cost more than what is asked for.
func (d *Driver) control(ctx context.Context, container, method string) error {
	ctx, cancel := context.WithTimeout(ctx, runtimeLimit)
	defer cancel()
	socket, err := d.controlSocket(container)
	if err != nil {
		return err
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("reach the kernel of %s: %w", container, err)
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	var answer struct {
		Success bool   `json:"success"`
		Err     string `json:"err"`
	}
	_, err = fmt.Fprintf(c, `{"method":%q,"arg":{}}`, method)
	if err == nil {
		err = json.NewDecoder(c).Decode(&answer)
	}
	switch {
	case ctx.Err() != nil:
		return errors.Join(err, context.Cause(ctx))
	case err != nil:
		return fmt.Errorf("ask the kernel of %s: %w", container, err)
	case !answer.Success:
		return fmt.Errorf("%s of %s: %s", method, container, answer.Err)
	}
	return nil
}

// controlSocket looks where runsc puts the socket: in its own folder, or elsewhere when that folder's name is too long for one.
func (d *Driver) controlSocket(container string) (string, error) {
	for _, dir := range []string{d.runtimeDir(), "/var/run", "/run", "/tmp"} {
		path := filepath.Join(dir, "runsc-"+container+".sock")
		if st, err := os.Stat(path); err == nil && st.Mode()&os.ModeSocket != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("the kernel of %s has no control socket", container)
}

// runtimeDir is where runsc keeps what it knows.
func (d *Driver) runtimeDir() string { return filepath.Join(d.cfg.Folder, "runsc") }
