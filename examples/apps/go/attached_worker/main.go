// The worker of ../../c/attached_worker.c in Go: attached to its sidecar, it says what it is worth, and
// works in units that it begins only while its flag covers them.
//
//	attached_worker FLAG_FILE PLACE NAME [SCORE]
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"example.org/bellwether/attachment"
	"example.org/bellwether/leaderflag"
)

const unit = time.Millisecond // of work; the pause stands for what an application really does

func main() {
	if len(os.Args) != 4 && len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: attached_worker FLAG_FILE PLACE NAME [SCORE]")
		os.Exit(2)
	}
	var score *int64
	if len(os.Args) == 5 {
		number, err := strconv.ParseInt(os.Args[4], 10, 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, "attached_worker:", err)
			os.Exit(2)
		}
		score = &number
	}
	untilAsked, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	flag, err := leaderflag.OpenWhenReady(os.Args[1], leaderflag.Anybody)
	if err != nil {
		fmt.Fprintln(os.Stderr, "attached_worker:", err)
		os.Exit(1)
	}
	defer flag.Close()
	for untilAsked.Err() == nil {
		mine, err := attachment.Open(os.Args[2], os.Args[3], score)
		if refused, is := err.(*attachment.Refused); is && refused.Status != 503 {
			fmt.Fprintln(os.Stderr, "attached_worker:", err)
			os.Exit(1)
		}
		if err == nil {
			work(untilAsked, flag, mine, os.Args[3])
			mine.Close()
		}
		time.Sleep(100 * time.Millisecond) // the sidecar starts, or starts again
	}
}

// Until the sidecar, or this process, ends.
func work(untilAsked context.Context, flag *leaderflag.Flag, mine *attachment.Attachment, name string) {
	units, working := uint64(0), uint64(0)
	for untilAsked.Err() == nil {
		token, leads := flag.Begin(unit)
		if leads && working != token {
			tell(name, "works", token, units)
			working = token
		}
		if leads {
			time.Sleep(unit)
			if flag.Still(token) { // its result counts
				units++
			}
			continue
		}
		if working != 0 {
			tell(name, "stopped", working, units)
			working = 0
		}
		select {
		case <-untilAsked.Done():
		case _, isOpen := <-mine.Events():
			if !isOpen {
				return
			}
		case <-time.After(time.Second):
		}
	}
}

func tell(name, what string, token, units uint64) {
	fmt.Printf("%d %s %s token=%d pieces=%d\n", time.Now().UnixMicro(), name, what, token, units)
}
