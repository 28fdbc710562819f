package duck

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// seal gives up, once the file is open, whatever a statement has no business with: root, other files, the network, other processes. From
// here on the process has what it holds, and nothing that runs in it can ask the kernel for more, whatever DuckDB's own locks are worth.
// It needs no privilege.
func seal() error {
	if err := leaveRoot(); err != nil {
		return fmt.Errorf("leaving root: %w", err)
	}
	if err := refuseCalls(); err != nil {
		return fmt.Errorf("refusing system calls: %w", err)
	}
	return nil
}

// Uids that no account has: one a worker, or, where a user namespace maps no such, nobody's.
const (
	uidBase = 1_000_000_000
	nobody  = 65534
)

// leaveRoot changes all threads to a uid of the worker's own.
func leaveRoot() error {
	if os.Geteuid() != 0 {
		return nil
	}
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	id := uidBase + os.Getpid()
	err := syscall.Setgid(id)
	if errors.Is(err, syscall.EINVAL) {
		id = nobody
		err = syscall.Setgid(id)
	}
	return errors.Join(err, syscall.Setuid(id))
}

// refused are the system calls that fail from here on, with EPERM: everything that opens, changes or names a file, a socket, a process, a
// namespace or a kernel object. Threads may still be made.
func refused() []uint32 {
	return append(refusedHere(),
		unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_TREE,
		unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4, unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG,
		unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_KILL, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
		unix.SYS_UNLINKAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_MKDIRAT, unix.SYS_MKNODAT, unix.SYS_FCHMODAT, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
		unix.SYS_TRUNCATE, unix.SYS_CHROOT, unix.SYS_CHDIR, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_FSOPEN, unix.SYS_MOVE_MOUNT,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		unix.SYS_MEMFD_CREATE, unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_INOTIFY_INIT1, unix.SYS_FANOTIFY_INIT, unix.SYS_SETUID, unix.SYS_SETGID, unix.SYS_SETRESUID,
		unix.SYS_SETRESGID, unix.SYS_REBOOT, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_SETHOSTNAME)
}

// Offsets in what a filter sees of a call, struct seccomp_data, and the bit that marks x86's second numbering of the calls.
const (
	callNumber = 0
	callArch   = 4
	callFlags  = 16 // the low half of the first argument
	x32        = 0x40000000
)

// refuseCalls installs a filter for all threads, those of DuckDB included.
func refuseCalls() error {
	runtime.LockOSThread() // the first call is of one thread, which makes the second one
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := program()
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	failed, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return errno
	}
	if failed != 0 {
		return fmt.Errorf("thread %d has another filter", failed)
	}
	return nil
}

// program is the filter in the kernel's language.
func program() []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	fail := func(e unix.Errno) unix.SockFilter { return answer(unix.SECCOMP_RET_ERRNO | uint32(e)) }
	// Each test jumps over the next instruction when it doesn't hold.
	unless := func(test uint16, k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: k, Jf: 1}
	}
	p := []unix.SockFilter{
		load(callArch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: auditArch, Jt: 1},
		answer(unix.SECCOMP_RET_KILL_PROCESS),
		load(callNumber), unless(unix.BPF_JGE, x32), fail(unix.EPERM),
		// glibc falls back to clone, whose flags can be seen.
		unless(unix.BPF_JEQ, unix.SYS_CLONE3), fail(unix.ENOSYS),
	}
	for _, nr := range refused() {
		p = append(p, unless(unix.BPF_JEQ, nr), fail(unix.EPERM))
	}
	return append(p,
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_CLONE, Jt: 1}, answer(unix.SECCOMP_RET_ALLOW),
		load(callFlags), unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.CLONE_THREAD, Jt: 1}, fail(unix.EPERM),
		answer(unix.SECCOMP_RET_ALLOW))
}
