// Package leaderflag reads the leader flag: does this replica lead, right now?
//
//	flag, err := leaderflag.Open("/dev/shm/bellwether/orders")
//	...
//	if token, leads := flag.Token(); leads {
//		// act, and pass the token on as fencing token
//	}
//
// What the flag promises, and what it cannot, is said in leader_flag.h, whose reader this is, line
// by line; copy the package into your application.  It needs nothing but the standard library.
// For 64-bit Linux.  To cut the file short, which only its owner and root can, ends a process that
// has it mapped, as this one does, by SIGBUS.
package leaderflag

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Role is what this replica is.
type Role uint8

// Roles.
const (
	Unknown  Role = 0 // no leader is known, or nobody vouches for what is
	Follower Role = 1 // another replica leads
	Leader   Role = 2 // this replica leads
)

// Anybody is no user: nobody is named, and the file's folder tells whose word counts.
const Anybody = -1

// Errors of Open; in the first case, and with fs.ErrNotExist, the sidecar has not come up yet.
var (
	ErrNotReady       = errors.New("the sidecar has not set up the leader flag yet")
	ErrNotAFlag       = errors.New("the file is not a leader flag")
	ErrUnknownVersion = errors.New("the leader flag is of a version that this program does not know")
	ErrNotTrusted     = errors.New("the leader flag belongs to a user whom nothing vouches for; " +
		"name the sidecar's user with OpenOf")
)

// Snapshot is all that the flag says, at one instant.  A flag that nobody vouches for (no living
// sidecar, a leadership that has run out) has the role Unknown and names no leader.
type Snapshot struct {
	Epoch          uint64   // of the leadership; 0: no leader is known
	FencingToken   uint64   // the epoch while this replica leads, otherwise 0
	ValidUntilNs   uint64   // while this replica leads, on CLOCK_BOOTTIME
	LeaderID       [16]byte // the leader's UUID; zeros: none
	Seq            uint32   // differs when something but ValidUntilNs was written
	Role           Role
	Guard          uint8
	IsSidecarAlive bool
	IsDraining     bool // this replica leads, and shall begin nothing new
}

// Flag is an open flag; any number of goroutines may read it.
type Flag struct {
	path       string
	owner      int
	bootIDHash uint64
	view       atomic.Pointer[view]
	nextLookNs atomic.Uint64
}

// One file, mapped for as long as somebody has this.
type view struct {
	line    *line
	mapping []byte
	status  os.FileInfo
}

// The line as it lies in the file; loaded whole field by whole field, hence the one word for the
// four small ones.
type line struct {
	owner        uint32
	seq          uint32
	epoch        uint64
	validUntilNs uint64
	bootIDHash   uint64
	octets       uint64 // guard, role, abi, flags, and four that are reserved
	leaderID     [2]uint64
	reserved     uint64
}

const (
	fileBytes = 4096
	lineBytes = 64
	knownABI  = 1
	ownerDied = 0x40000000
	draining  = 1

	// An update takes nanoseconds; a writer that is stopped in the middle of one may take for ever.
	tries = 1000

	// How often a reader looks whether another file is at the flag's path, while nobody vouches for
	// the one that it has.
	lookNs = 1_000_000_000

	// How long Wait may take to notice that the sidecar has died.
	poll = 20 * time.Millisecond

	clockBoottime = 7
	futexWait     = 0
)

// Open opens the flag in the file.  It is believed when it belongs to root, to this process's user, or
// to the owner of its folder where root alone can have given him that (leader_flag.h).
func Open(path string) (*Flag, error) { return open(path, Anybody) }

// OpenOf opens the flag, and believes it only if it belongs to this user, the sidecar's, or to root.
func OpenOf(path string, owner int) (*Flag, error) { return open(path, owner) }

func open(path string, owner int) (*Flag, error) {
	hash, err := bootIDHash()
	if err != nil {
		return nil, err
	}
	first, err := openView(path, owner)
	if err != nil {
		return nil, err
	}
	flag := &Flag{path: path, owner: owner, bootIDHash: hash}
	flag.view.Store(first)
	return flag, nil
}

func openView(path string, owner int) (*view, error) {
	// O_NONBLOCK: what is a pipe shall be refused, not waited for.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	status, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !status.Mode().IsRegular() {
		return nil, ErrNotAFlag
	}
	if !isTrusted(path, ownerOf(status), owner) {
		return nil, ErrNotTrusted
	}
	if status.Size() == 0 {
		return nil, ErrNotReady
	}
	if status.Size() != fileBytes {
		return nil, ErrNotAFlag
	}
	mapping, err := syscall.Mmap(int(file.Fd()), 0, lineBytes, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	opened := &view{(*line)(unsafe.Pointer(&mapping[0])), mapping, status}
	runtime.SetFinalizer(opened, func(unused *view) { syscall.Munmap(unused.mapping) })
	switch octetsOf(atomic.LoadUint64(&opened.line.octets))[2] {
	case knownABI:
		return opened, nil
	case 0:
		return nil, ErrNotReady
	}
	return nil, ErrUnknownVersion
}

func ownerOf(status os.FileInfo) int { return int(status.Sys().(*syscall.Stat_t).Uid) }

// May this user say that this replica leads?
func isTrusted(path string, user, owner int) bool {
	if user == 0 || owner != Anybody {
		return user == 0 || user == owner
	}
	if user == os.Geteuid() {
		return true
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return false
	}
	above, err := os.Stat(filepath.Dir(path) + "/..")
	return err == nil && ownerOf(folder) == user && ownerOf(above) == 0 &&
		(folder.Mode()|above.Mode())&0o022 == 0
}

// OpenWhenReady opens the flag of this user, or of Anybody, and waits for ever for a sidecar that
// starts later.
func OpenWhenReady(path string, owner int) (*Flag, error) {
	for {
		flag, err := open(path, owner)
		if !errors.Is(err, ErrNotReady) && !errors.Is(err, os.ErrNotExist) {
			return flag, err
		}
		time.Sleep(poll)
	}
}

// Close lets the flag go; nobody may read it any more.
func (flag *Flag) Close() { flag.view.Store(nil) }

// Token is the fencing token, if this replica leads.
func (flag *Flag) Token() (token uint64, leads bool) {
	snapshot := flag.Read()
	return snapshot.FencingToken, snapshot.Role == Leader
}

// Read is all that the flag says.
func (flag *Flag) Read() Snapshot {
	snapshot := flag.view.Load().read(flag.bootIDHash)
	if snapshot.IsSidecarAlive || !flag.lookAgain() {
		return snapshot
	}
	return flag.view.Load().read(flag.bootIDHash)
}

// While nobody vouches for the flag: is another file at its path?
func (flag *Flag) lookAgain() bool {
	next, now := flag.nextLookNs.Load(), nowNs()
	if now < next || !flag.nextLookNs.CompareAndSwap(next, now+lookNs) {
		return false
	}
	status, err := os.Stat(flag.path)
	if err != nil || os.SameFile(status, flag.view.Load().status) {
		return false
	}
	another, err := openView(flag.path, flag.owner)
	if err != nil {
		return false
	}
	flag.view.Store(another)
	return true
}

// Begin is called before work that takes `need`.  True: this replica leads, may begin new work, and
// its leadership, as the sidecar last wrote it, is valid for at least that long; the token is for
// the resource and for Still().  A leader that is about to hand over may not begin anything; it has
// `[application] drain_timeout` to finish what it has begun.
//
// The leadership is never valid for longer than 4/5 of the lease, and for less between two
// renewals: a `need` that is not well below is never granted.  For longer work pass a small one, set
// drain_timeout above its length, and let Still() decide whether the result counts.
//
// After true, under every guard but "none", no other replica leads before that time is up, even if
// the sidecar hangs, gets no processor time, or is cut off.  There are two exceptions: the leader
// gives up leadership without a drain, or after one (a step-down, a transfer, a planned take-over,
// SIGTERM), or its sidecar is known to be dead.  Then another replica may lead a millisecond later,
// while this one is still working.
func (flag *Flag) Begin(need time.Duration) (token uint64, leads bool) {
	snapshot := flag.Read()
	now := nowNs()
	if snapshot.Role != Leader || snapshot.IsDraining || now >= snapshot.ValidUntilNs ||
		snapshot.ValidUntilNs-now < uint64(need) {
		return 0, false
	}
	return snapshot.FencingToken, true
}

// Still is called after the work, before its result counts.  True: this replica leads, in the same
// epoch as at Begin(); under every guard but "none", no other replica has led since then.
func (flag *Flag) Still(token uint64) bool {
	now, leads := flag.Token()
	return leads && now == token
}

// Wait waits until a read would differ from what was seen in more than ValidUntilNs, or until the
// timeout is over, and returns what it is then.  What the sidecar writes wakes it at once; its
// death is noticed within 20 ms.  It keeps a thread of the operating system busy with waiting.
func (flag *Flag) Wait(seen Snapshot, timeout time.Duration) Snapshot {
	deadline := time.Now().Add(timeout)
	for {
		now := flag.Read()
		left := time.Until(deadline)
		if now.Seq != seen.Seq || now.Role != seen.Role ||
			now.IsSidecarAlive != seen.IsSidecarAlive || left <= 0 {
			return now
		}
		if left > poll {
			left = poll
		}
		if now.Role == Leader {
			valid := now.ValidUntilNs - nowNs()
			if valid < uint64(left) {
				left = time.Duration(valid)
			}
		}
		flag.sleep(now.Seq, left)
	}
}

func (view *view) read(bootIDHash uint64) Snapshot {
	var snapshot Snapshot
	for i := 0; i < tries; i++ {
		if view.tryRead(&snapshot, bootIDHash) {
			break
		}
	}
	runtime.KeepAlive(view)
	return snapshot
}

// One try; false when the line is being written.  The clock and the owner are read inside of the
// seqlock and last: at the instant of the clock, all that is told held.
func (view *view) tryRead(snapshot *Snapshot, ownBootIDHash uint64) bool {
	line := view.line
	seq := atomic.LoadUint32(&line.seq)
	epoch := atomic.LoadUint64(&line.epoch)
	validUntilNs := atomic.LoadUint64(&line.validUntilNs)
	bootIDHash := atomic.LoadUint64(&line.bootIDHash)
	octets := octetsOf(atomic.LoadUint64(&line.octets))
	leaderID := [2]uint64{atomic.LoadUint64(&line.leaderID[0]), atomic.LoadUint64(&line.leaderID[1])}
	now := nowNs()
	owner := atomic.LoadUint32(&line.owner)
	isWhole := seq%2 == 0 && atomic.LoadUint32(&line.seq) == seq

	*snapshot = Snapshot{Seq: seq}
	if !isWhole {
		return false
	}
	guard, role, abi, flags := octets[0], Role(octets[1]), octets[2], octets[3]
	snapshot.IsSidecarAlive = owner != 0 && owner&ownerDied == 0 &&
		bootIDHash == ownBootIDHash && abi == knownABI
	if !snapshot.IsSidecarAlive {
		return true
	}
	snapshot.Guard = guard
	if role == Leader {
		if now >= validUntilNs {
			return true
		}
		snapshot.FencingToken = epoch
		snapshot.ValidUntilNs = validUntilNs
		snapshot.IsDraining = flags&draining != 0
	}
	snapshot.Role = role
	snapshot.Epoch = epoch
	snapshot.LeaderID = *(*[16]byte)(unsafe.Pointer(&leaderID))
	return true
}

// Sleeps until seq, if it is still that, is written to.  Whatever ends it, the caller looks again.
func (flag *Flag) sleep(seq uint32, duration time.Duration) {
	limit := syscall.NsecToTimespec(int64(duration))
	view := flag.view.Load()
	_, _, failure := syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&view.line.seq)),
		futexWait, uintptr(seq), uintptr(unsafe.Pointer(&limit)), 0, 0)
	runtime.KeepAlive(view)
	if failure == syscall.ENOSYS || failure == syscall.EPERM {
		time.Sleep(duration) // somebody forbids futexes that are not private
	}
}

// In the order in which they lie in memory.
func octetsOf(word uint64) [8]byte { return *(*[8]byte)(unsafe.Pointer(&word)) }

// The clock of ValidUntilNs; it goes on while the machine is suspended.  Without a clock every
// validity is over.
func nowNs() uint64 {
	var now syscall.Timespec
	_, _, failure := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime,
		uintptr(unsafe.Pointer(&now)), 0)
	if failure != 0 {
		return math.MaxUint64
	}
	return uint64(now.Nano())
}

// 64-bit FNV-1a of the 36 characters that name this boot.
func bootIDHash() (uint64, error) {
	file, err := os.Open("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var text [36]byte
	if _, err := io.ReadFull(file, text[:]); err != nil {
		return 0, err
	}
	hash := uint64(0xcbf29ce484222325)
	for _, character := range text {
		hash = (hash ^ uint64(character)) * 0x100000001b3
	}
	return hash, nil
}
