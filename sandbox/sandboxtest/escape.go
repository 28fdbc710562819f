package sandboxtest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bordereau/sandbox"
)

// try is one attempt to leave the sandbox. The script prints ESCAPED when it succeeds. @HOST@ stands for a file of the host that holds a
// secret, @PORT@ for a port on which the host listens, @SOCKET@ for a socket of the host, @ABSTRACT@ for an abstract one.
type try struct{ name, script string }

const py = "python3 - <<'END'\n"

// connect is a try to reach a network address.
func connect(name, host, port string) try {
	return try{name, py + fmt.Sprintf(`
import socket
s = socket.socket(); s.settimeout(2)
s.connect(("%s", %s)); print("ESCAPED")
END`, host, port)}
}

// reads is a try to see a file of the host.
func reads(name, path string) try {
	return try{name, fmt.Sprintf(`if [ -e %[1]q ] && cat %[1]q >/dev/null 2>&1; then echo ESCAPED; fi`, path)}
}

// writes is a try to change what must not change.
func writes(name, path string) try {
	return try{name, fmt.Sprintf(`if (echo x > %q) 2>/dev/null; then echo ESCAPED; fi`, path)}
}

var tries = []try{ //nolint:gochecknoglobals // a constant table
	// The network.
	connect("metadata of AWS and GCP", "169.254.169.254", "80"),
	connect("metadata of Alibaba", "100.100.100.200", "80"),
	connect("metadata of ECS", "169.254.170.2", "80"),
	connect("the host's loopback", "127.0.0.1", "@PORT@"),
	connect("the host's loopback by another name", "127.1.2.3", "@PORT@"),
	connect("the host by 0.0.0.0", "0.0.0.0", "@PORT@"),
	connect("the internet", "1.1.1.1", "443"),
	connect("a private network", "10.0.0.1", "22"),
	{"IPv6 loopback of the host", py + "import socket\ns=socket.socket(socket.AF_INET6); s.settimeout(2); s.connect(('::1', @PORT@)); print('ESCAPED')\nEND"},
	{"IPv6 metadata", py + "import socket\ns=socket.socket(socket.AF_INET6); s.settimeout(2); s.connect(('fd00:ec2::254', 80)); print('ESCAPED')\nEND"},
	{"name resolution", py + "import socket\nsocket.setdefaulttimeout(3); socket.getaddrinfo('example.com', 80); print('ESCAPED')\nEND"},
	{"DNS by UDP", py + "import socket\ns=socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1); s.sendto(b'x'*20, ('8.8.8.8', 53)); s.recv(10); print('ESCAPED')\nEND"},
	{"raw packets", py + "import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3); print('ESCAPED')\nEND"},
	{"raw IP", py + "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_RAW, 1); print('ESCAPED')\nEND"},
	{"another network device", `ls /sys/class/net 2>/dev/null | grep -v '^lo$' | grep -q . && echo ESCAPED; grep -E '^ *(eth|en|wl)' /proc/net/dev && echo ESCAPED; true`},
	{"an abstract socket of the host", py + "import socket\ns=socket.socket(socket.AF_UNIX); s.connect('\\0ABSTRACT'); print('ESCAPED')\nEND"},
	{"a socket of the host", py + "import socket\ns=socket.socket(socket.AF_UNIX); s.connect('@SOCKET@'); print('ESCAPED')\nEND"},
	{"a socket that the host could meet", py + "import socket, os\ns=socket.socket(socket.AF_UNIX); s.bind('/run/bordereau/x'); print('ESCAPED')\nEND"},
	{"the door with what is no MCP", py + `
import socket
s = socket.socket(socket.AF_UNIX); s.settimeout(2)
s.connect("/run/bordereau/mcp.sock"); s.sendall(b"CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: x\r\n\r\n")
print("ESCAPED" if b" 200 " in s.recv(100) else "refused")
END`},
	{"docker's socket", py + "import socket\ns=socket.socket(socket.AF_UNIX); s.connect('/var/run/docker.sock'); print('ESCAPED')\nEND"},
	{"AF_ALG", py + "import socket\ns=socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET); s.bind(('hash','sha256')); print('ESCAPED')\nEND"},
	{"AF_VSOCK to the hypervisor", py + "import socket\ns=socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); s.settimeout(2); s.connect((2, 1)); print('ESCAPED')\nEND"},
	// Files of the host.
	reads("the host's secret by its path", "@HOST@"),
	reads("shadow", "/etc/shadow"), reads("root's home", "/root/.bashrc"), reads("host keys", "/etc/ssh/ssh_host_ed25519_key"),
	reads("machine id", "/etc/machine-id"), reads("resolver", "/etc/resolv.conf"), reads("host disk", "/dev/vda"), reads("host disk, the other", "/dev/sda"),
	reads("kernel memory", "/proc/kcore"), reads("physical memory", "/dev/mem"), reads("kernel log", "/dev/kmsg"), reads("KVM", "/dev/kvm"),
	reads("loop control", "/dev/loop-control"), reads("fuse", "/dev/fuse"), reads("net tun", "/dev/net/tun"), reads("root through process 1", "/proc/1/root/etc/shadow"),
	{"the host's users", `getent passwd | grep -Ev '^(root|sandbox|nobody):' && echo ESCAPED; true`},
	{"home of others", `ls -A /home 2>/dev/null | grep -q . && echo ESCAPED; ls -A /root 2>/dev/null | grep -q . && echo ESCAPED; true`},
	{"processes of the host", `for p in /proc/[0-9]*/cmdline; do tr '\0' ' ' < $p 2>/dev/null; echo; done | grep -E 'go[ ]test|system[d]|ssh[d]|docker[d]|[.]test ' && echo ESCAPED; true`},
	{"environment of process 1", `tr '\0' '\n' < /proc/1/environ 2>/dev/null | grep -E 'GOPATH|SSH|AWS|SECRET|HOME=/root' && echo ESCAPED; true`},
	{"the control folder", `ls /run/control 2>/dev/null | grep -q . && echo ESCAPED; cat /run/control/ctl.sock 2>/dev/null && echo ESCAPED; true`},
	{"the runtime's first process", py + "import socket\ns=socket.socket(socket.AF_UNIX); s.connect('/run/control/ctl.sock'); print('ESCAPED')\nEND"},
	// Writing.
	writes("programs", "/usr/bin/evil"), writes("the client", "/opt/bordereau/bin/gov"), writes("users", "/etc/passwd"), writes("the root", "/evil"),
	writes("the door", "/run/bordereau/evil"), writes("kernel settings", "/proc/sys/kernel/core_pattern"), writes("sysrq", "/proc/sysrq-trigger"),
	writes("panic on oom", "/proc/sys/vm/panic_on_oom"), writes("the hotplug helper", "/sys/kernel/uevent_helper"), writes("the release agent", "/sys/fs/cgroup/release_agent"),
	{"replacing the door", `rm -f /run/bordereau/mcp.sock 2>/dev/null && ! test -e /run/bordereau/mcp.sock && test -e /run/bordereau && echo x > /run/bordereau/mcp.sock 2>/dev/null && echo ESCAPED; mv /run/bordereau /run/b 2>/dev/null && echo ESCAPED; true`},
	{"remounting", `mount -o remount,rw / 2>/dev/null && echo x 2>/dev/null > /evil && echo ESCAPED; mount --bind /tmp /usr 2>/dev/null && echo ESCAPED; true`},
	{"mounting proc anew", `mkdir -p /tmp/p; mount -t proc proc /tmp/p 2>/dev/null && echo ESCAPED; mount -t tmpfs t /tmp/p 2>/dev/null && echo ESCAPED; true`},
	{"mounting a disk", `mount /dev/vda /tmp 2>/dev/null && echo ESCAPED; mount -t ext4 /dev/loop0 /tmp 2>/dev/null && echo ESCAPED; true`},
	// Power.
	{"becoming root by setuid", py + "import os\nos.setuid(0); print('ESCAPED')\nEND"},
	{"becoming root by su and sudo", `for p in 'su -c id' 'sudo -n id' 'pkexec id' 'mount /x'; do $p </dev/null 2>/dev/null | grep -q 'uid=0' && echo ESCAPED; done; true`},
	{"a setuid program of its own", `cp /bin/sh /workspace/s; chmod 4755 /workspace/s; /workspace/s -p -c 'id -u' | grep -q '^0$' && echo ESCAPED; rm -f /workspace/s; true`},
	{"capabilities", `grep -E '^Cap(Prm|Eff|Bnd|Amb)' /proc/self/status | grep -qv 0000000000000000 && echo ESCAPED; true`},
	{"gaining privileges", `grep -q 'NoNewPrivs:.1' /proc/self/status || echo ESCAPED`},
	{"file capabilities", `cp /bin/true /workspace/c; setcap cap_sys_admin+ep /workspace/c 2>/dev/null && echo ESCAPED; rm -f /workspace/c; true`},
	{"making a device", `mknod /workspace/disk b 254 0 2>/dev/null && cat /workspace/disk >/dev/null 2>&1 && echo ESCAPED; mknod /tmp/mem c 1 1 2>/dev/null && head -c1 /tmp/mem >/dev/null 2>&1 && echo ESCAPED; true`},
	{"tracing process 1", py + `
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.ptrace(16, 1, 0, 0) == 0: print("ESCAPED")
END`},
	{"another's memory", py + "import os\nopen('/proc/1/mem','rb').read(1); print('ESCAPED')\nEND"},
	{"killing process 1", `kill -9 1 2>/dev/null; kill -9 -1 2>/dev/null; true`},
	{"kernel modules", `insmod /x.ko 2>/dev/null && echo ESCAPED; modprobe dummy 2>/dev/null && echo ESCAPED; true`},
	{"bpf, perf, keys, userfaultfd", py + `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
import platform
x = platform.machine() == "x86_64"
for name, nr, args in [("bpf", 321, (0, 0, 0)), ("perf_event_open", 298, (0, 0, -1, -1, 0)), ("kexec_load", 246, (0, 0, 0, 0)),
                       ("open_by_handle_at", 304, (0, 0, 0)), ("userfaultfd", 323, (0,)), ("init_module", 175, (0, 0, 0)), ("reboot", 169, (0, 0, 0, 0)),
                       ("io_uring_setup", 425, (1, 0)), ("add_key", 248, (0, 0, 0, 0, 0)), ("swapon", 167, (0, 0)), ("settimeofday", 164, (0, 0)),
                       ("sethostname", 170, (b"x", 1)), ("iopl", 172, (3,))]:
    if x and libc.syscall(nr, *args) >= 0: print("ESCAPED", name)
END`},
	{"chroot out", py + "import os\nos.mkdir('/tmp/c%d' % os.getpid()); os.chroot('/tmp'); [os.chdir('..') for _ in range(64)]; os.chroot('.'); print('ESCAPED' if os.path.exists('/etc/shadow') else 'no')\nEND"},
	{"the time", `date -s '2001-01-01' >/dev/null 2>&1 && test $(date +%Y) = 2001 && echo ESCAPED; true`},
	{"user namespace to root on files", `unshare -Ur sh -c 'cat /etc/shadow >/dev/null 2>&1 && echo ESCAPED; echo x 2>/dev/null > /usr/bin/evil && echo ESCAPED; mount --bind /tmp /etc && mount -o remount,rw / && touch /evil && echo ESCAPED' 2>/dev/null; true`},
	{"another's network namespace", `nsenter -t 1 -n ls /sys/class/net 2>/dev/null | grep -v '^lo$' | grep -q . && echo ESCAPED; nsenter -t 1 -m cat /etc/shadow 2>/dev/null && echo ESCAPED; true`},
	{"typing into the terminal", py + "import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSTI, b'x'); print('ESCAPED')\nEND"},
	{"core files on the host", `ulimit -c unlimited 2>/dev/null; test "$(ulimit -c)" = unlimited && echo ESCAPED; true`},
	{"raising limits", `ulimit -u 100000 2>/dev/null && test $(ulimit -u) -gt 1000 && echo ESCAPED; true`},
	{"open descriptors of the host", `for f in /proc/self/fd/*; do readlink $f; done | grep -E '^/(home|root|work|etc|var)' && echo ESCAPED; true`},
	{"leaving by an open folder", py + `
import os
for fd in range(3, 64):
    try:
        if os.path.exists("/proc/self/fd/%d/etc/shadow" % fd): print("ESCAPED")
        os.fchdir(fd); print("ESCAPED by fchdir", os.getcwd())
    except OSError: pass
END`},
	// What ignores its end.
	{"ignoring every signal", `trap '' TERM INT HUP QUIT; (setsid sh -c 'trap "" TERM; sleep 300' &) ; exit 0`},
	{"a double fork", py + "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.closerange(0, 64); time.sleep(300)\n    os._exit(0)\nEND"},
	{"a process that stops itself", `(sleep 300 & kill -STOP $!) ; kill -STOP $$`},
	{"a process under another's name", py + "import os, time\nif os.fork() == 0:\n    os.setsid(); os.execv('/bin/sleep', ['[kworker]', '300'])\nEND"},
	{"an environment that hides it", `env -i setsid /bin/sleep 300 >/dev/null 2>&1 & true`},
	{"holding the output", `sleep 300 & exec 3>&1; (sleep 300 >&3 &); true`},
}

// escape makes every try in one sandbox, with a neighbour beside it, and looks at the host after each.
func (s Subject) escape(t *testing.T) {
	t.Parallel()
	if len(tries) < 60 {
		t.Fatalf("only %d tries", len(tries))
	}
	var reached atomic.Int32
	web := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }), ReadHeaderTimeout: time.Second}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = web.Serve(counting{listener, &reached}) }()
	t.Cleanup(func() { _ = web.Close() })
	dir := t.TempDir()
	abstract := "bordereau-escape-" + newID()
	for _, name := range []string{"@" + abstract, filepath.Join(dir, "s")} {
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = web.Serve(counting{l, &reached}) }()
	}
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil { // #nosec G306 -- readable by all, on purpose
		t.Fatal(err)
	}
	fill := strings.NewReplacer("@HOST@", secret, "@PORT@", fmt.Sprint(listener.Addr().(*net.TCPAddr).Port), "@SOCKET@", filepath.Join(dir, "s"), "@ABSTRACT@", abstract)

	neighbour := s.box(t, sandbox.Limits{})
	neighbour.write("canary.txt", canary)
	b := s.box(t, sandbox.Limits{Processes: 64, WorkspaceBytes: 64 << 20})
	b.write("canary.txt", canary)
	for _, a := range tries {
		t.Run(strings.ReplaceAll(a.name, " ", "-"), func(t *testing.T) {
			b := box{b.Driver, t, b.id}
			out, _ := b.attack(fill.Replace(a.script), 8*time.Second)
			if strings.Contains(out, "ESCAPED") {
				t.Fatalf("it got out: %.300q", out)
			}
			if n := reached.Load(); n != 0 {
				t.Fatalf("the host was reached %d times", n)
			}
			if _, err := os.Stat("/evil"); err == nil {
				t.Fatal("a file was made on the host")
			}
		})
	}
	b.alone()
	neighbour.t = t
	neighbour.whole()
	s.handedBack(t, b, secret)
}

// handedBack are files that lie in wait for whoever takes them out of the workspace.
func (s Subject) handedBack(t *testing.T, b box, secret string) {
	t.Helper()
	b.sh(`cd artifacts; ln -s ` + secret + ` a.txt; ln -s /etc/shadow b.txt; ln -s / c; mkfifo d.pdf; ln ` + secret + ` e.txt 2>/dev/null; ln /etc/passwd f.txt 2>/dev/null
python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.bind("g.sock")'; mkdir -p x; ln -s .. x/up; ln -s x/up/x/up/x loop; ln -s loop2 loop2; mknod h.dev c 1 3 2>/dev/null; true`)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	entries, err := b.ListFiles(ctx, b.id, sandbox.ArtifactsDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range entries {
		if f.Mode.IsRegular() {
			text := b.read(f.Path)
			if strings.Contains(text, "secret") || strings.Contains(text, "/root:/bin") {
				t.Fatalf("%s holds what is the host's", f.Path)
			}
			continue
		}
		r, _, err := b.ReadFile(ctx, b.id, f.Path)
		if err == nil {
			r.Close()
			t.Fatalf("%s was opened, though it is %v", f.Path, f.Mode)
		}
	}
}

type counting struct {
	net.Listener
	n *atomic.Int32
}

// Accept counts.
func (c counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.n.Add(1)
	}
	return conn, err
}
