// The worker of ../../c/attached_worker.c in Go: attached to its sidecar, it says what it is worth, and
// works in units that it begins only while its flag covers them; before its node hands over, or itself
// is asked to end, it finishes what it has begun.
//
//	attached_worker FLAG_FILE PLACE NAME [SCORE [UNIT_MS [UID]]]
//
// Where the API asks for a token, the file in the environment's BELLWETHER_TOKEN_FILE has it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"example.org/bellwether/attachment"
	"example.org/bellwether/leaderflag"
)

const need = time.Millisecond // so long the flag has to hold for a unit to begin

// What this process is.
type worker struct {
	flag  *leaderflag.Flag
	place string
	name  string
	token []attachment.Option // or none
	unit  time.Duration       // of work; the pause stands for what an application really does
}

func main() {
	if len(os.Args) < 4 || len(os.Args) > 7 {
		fmt.Fprintln(os.Stderr, "usage: attached_worker FLAG_FILE PLACE NAME [SCORE [UNIT_MS [UID]]]")
		os.Exit(2)
	}
	var score *int64
	if number := argument(4, 0); len(os.Args) >= 5 {
		score = &number
	}
	unit := time.Duration(argument(5, 1)) * time.Millisecond
	// A signal before there is a flag ends the process.
	flag, err := leaderflag.OpenWhenReady(os.Args[1], int(argument(6, leaderflag.Anybody)))
	if err != nil {
		fmt.Fprintln(os.Stderr, "attached_worker:", err)
		os.Exit(1)
	}
	defer flag.Close()
	untilAsked, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	self := worker{flag: flag, place: os.Args[2], name: os.Args[3], unit: unit}
	if file := os.Getenv("BELLWETHER_TOKEN_FILE"); file != "" {
		self.token = []attachment.Option{attachment.TokenFile(file)}
	}
	for untilAsked.Err() == nil {
		mine, err := attachment.Open(self.place, self.name, score, self.token...)
		refused, is := err.(*attachment.Refused)
		if (is && refused.Status != 429 && refused.Status != 503) || errors.Is(err, attachment.ErrNoToken) {
			fmt.Fprintln(os.Stderr, "attached_worker:", err)
			os.Exit(1)
		}
		if err == nil {
			self.work(untilAsked, mine)
			mine.Close()
		}
		time.Sleep(100 * time.Millisecond) // the sidecar starts, or starts again
	}
}

func argument(at int, otherwise int64) int64 {
	if len(os.Args) <= at {
		return otherwise
	}
	number, err := strconv.ParseInt(os.Args[at], 10, 64)
	if err != nil {
		fmt.Fprintln(os.Stderr, "attached_worker:", err)
		os.Exit(2)
	}
	return number
}

// Until the sidecar, or this process, ends.
func (self worker) work(untilAsked context.Context, mine *attachment.Attachment) {
	units, cut, working := uint64(0), uint64(0), uint64(0)
	for untilAsked.Err() == nil {
		token, leads := self.flag.Begin(need)
		if leads && working != token {
			tell(self.name, "works", token, units, cut)
			working = token
		}
		if leads {
			time.Sleep(self.unit)
			if self.flag.Still(token) { // its result counts
				units++
			} else {
				cut++
			}
			continue
		}
		if working != 0 {
			tell(self.name, "stopped", working, units, cut)
			working = 0
		}
		select {
		case <-untilAsked.Done():
		case event, isOpen := <-mine.Events():
			if !isOpen {
				return
			}
			if event.Type == attachment.Drain {
				// Or it has waited long enough.
				_ = attachment.Drained(self.place, event, self.token...)
			}
		case <-time.After(time.Second):
		}
	}
	if working != 0 {
		tell(self.name, "stopped", working, units, cut)
	}
}

// cut counts units that the flag did not cover to their end, so that their results did not count.
func tell(name, what string, token, units, cut uint64) {
	fmt.Printf("%d %s %s token=%d pieces=%d cut=%d\n", time.Now().UnixMicro(), name, what, token, units, cut)
}
