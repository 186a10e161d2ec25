// The worker of ../../c/worker.c in Go: one replica at a time may work, and asks the leader flag
// before every piece of work.
//
//	worker FLAG_FILE NAME [USER]
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"example.org/bellwether/leaderflag"
)

func main() {
	owner, err := leaderflag.Anybody, error(nil)
	if len(os.Args) == 4 {
		owner, err = strconv.Atoi(os.Args[3])
	}
	if len(os.Args) < 3 || len(os.Args) > 4 || err != nil {
		fmt.Fprintln(os.Stderr, "usage: worker FLAG_FILE NAME [UID]")
		os.Exit(2)
	}
	untilAsked, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	ended := make(chan error)
	go func() { ended <- run(untilAsked, os.Args[1], os.Args[2], owner) }()
	select {
	case <-untilAsked.Done():
		select { // a worker that still waits for its flag need not be waited for
		case <-ended:
		case <-time.After(2 * time.Second):
		}
	case err := <-ended:
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

func run(untilAsked context.Context, path, name string, owner int) error {
	flag, err := leaderflag.OpenWhenReady(path, owner)
	if err != nil {
		return err
	}
	defer flag.Close()
	for untilAsked.Err() == nil {
		seen := flag.Read()
		if seen.Role != leaderflag.Leader {
			flag.Wait(seen, time.Second)
			continue
		}
		tell(name, "works", seen.FencingToken, 0)
		pieces := work(untilAsked, flag, seen.FencingToken)
		tell(name, "stopped", seen.FencingToken, pieces)
	}
	return nil
}

// Works for as long as the flag is on in this epoch; returns the pieces done.
func work(untilAsked context.Context, flag *leaderflag.Flag, token uint64) (pieces uint64) {
	for untilAsked.Err() == nil && flag.Still(token) {
		doAPieceOfWork()
		pieces++
	}
	return pieces
}

// The pause stands for what an application really does.
func doAPieceOfWork() { time.Sleep(100 * time.Microsecond) }

func tell(name, what string, token, pieces uint64) {
	fmt.Printf("%d %s %s token=%d pieces=%d\n", time.Now().UnixMicro(), name, what, token, pieces)
}
