package bubblewrap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

func memfd() (uintptr, error) {
	fd, err := unix.MemfdCreate("bordereau", 0)
	return uintptr(fd), err // #nosec G115 -- a descriptor
}

// Offsets in struct seccomp_data.
const (
	offNr   = 0
	offArch = 4
	offArg0 = 16
	offArg1 = 24
)

// What a filter answers.
const (
	retAllow = 0x7fff0000
	retKill  = 0x80000000
	retErrno = 0x00050000
)

// refused are calls that no document tool needs and that reach deep into the kernel.
var refused = []uint32{ //nolint:gochecknoglobals // a constant table
	unix.SYS_ACCT, unix.SYS_ADD_KEY, unix.SYS_ADJTIMEX, unix.SYS_BPF, unix.SYS_CHROOT, unix.SYS_CLOCK_ADJTIME, unix.SYS_CLOCK_SETTIME,
	unix.SYS_DELETE_MODULE, unix.SYS_FANOTIFY_INIT, unix.SYS_FINIT_MODULE, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSOPEN, unix.SYS_FSPICK,
	unix.SYS_INIT_MODULE, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_IO_URING_SETUP, unix.SYS_KCMP,
	unix.SYS_KEXEC_FILE_LOAD, unix.SYS_KEXEC_LOAD, unix.SYS_KEYCTL, unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_MBIND,
	unix.SYS_MIGRATE_PAGES, unix.SYS_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_MOVE_MOUNT, unix.SYS_MOVE_PAGES, unix.SYS_NAME_TO_HANDLE_AT,
	unix.SYS_NFSSERVCTL, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_OPEN_TREE, unix.SYS_PERF_EVENT_OPEN, unix.SYS_PERSONALITY, unix.SYS_PIDFD_GETFD,
	unix.SYS_PIVOT_ROOT, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PTRACE, unix.SYS_QUOTACTL,
	unix.SYS_QUOTACTL_FD, unix.SYS_REBOOT, unix.SYS_REQUEST_KEY, unix.SYS_SETDOMAINNAME, unix.SYS_SETHOSTNAME, unix.SYS_SETNS,
	unix.SYS_SETTIMEOFDAY, unix.SYS_SET_MEMPOLICY, unix.SYS_SWAPOFF, unix.SYS_SWAPON, unix.SYS_SYSLOG, unix.SYS_UMOUNT2, unix.SYS_UNSHARE,
	unix.SYS_USERFAULTFD, unix.SYS_VHANGUP,
}

// newNamespaces are the flags of clone that would leave the sandbox's namespaces.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// seccomp is the filter, as the kernel reads it.
func seccomp() ([]byte, error) {
	arch := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if arch == 0 {
		return nil, fmt.Errorf("bubblewrap: no seccomp filter for %s", runtime.GOARCH)
	}
	p := program{}
	p.load(offArch)
	p.unless(arch, retKill)
	p.load(offNr)
	if runtime.GOARCH == "amd64" {
		p.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, 0, 1, 0x40000000) // the x32 calls
		p.answer(retKill)
	}
	for _, nr := range refused {
		p.when(nr, retErrno|uint32(unix.EPERM))
	}
	for _, nr := range archRefused() {
		p.when(nr, retErrno|uint32(unix.EPERM))
	}
	// The flags of clone3 are out of a filter's reach; programs fall back to clone.
	p.when(unix.SYS_CLONE3, retErrno|uint32(unix.ENOSYS))
	// clone: no new namespaces.
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 4, unix.SYS_CLONE)
	p.load(offArg0)
	p.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0, 1, newNamespaces)
	p.answer(retErrno | uint32(unix.EPERM))
	p.load(offNr)
	// socket: the local and the internet families only.
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 6, unix.SYS_SOCKET)
	p.load(offArg0)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 3, 0, unix.AF_UNIX)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 2, 0, unix.AF_INET)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, unix.AF_INET6)
	p.answer(retErrno | uint32(unix.EAFNOSUPPORT))
	p.load(offNr)
	// ioctl: no typing into terminals.
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 5, unix.SYS_IOCTL)
	p.load(offArg1)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, unix.TIOCSTI)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 1, unix.TIOCLINUX)
	p.answer(retErrno | uint32(unix.EPERM))
	p.load(offNr)
	p.answer(retAllow)
	var b bytes.Buffer
	err := binary.Write(&b, binary.NativeEndian, []unix.SockFilter(p))
	return b.Bytes(), err
}

// program is a filter in the making.
type program []unix.SockFilter

func (p *program) add(code uint16, jt, jf uint8, k uint32) {
	*p = append(*p, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

func (p *program) load(offset uint32)  { p.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, offset) }
func (p *program) answer(value uint32) { p.add(unix.BPF_RET|unix.BPF_K, 0, 0, value) }
func (p *program) when(nr, then uint32) {
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 1, nr)
	p.answer(then)
}

func (p *program) unless(k, then uint32) {
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, k)
	p.answer(then)
}
