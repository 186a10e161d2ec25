// What the Go reader of the flag sees; the commands and answers are those of ../probe.c.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"example.org/bellwether/leaderflag"
)

func main() {
	var flag *leaderflag.Flag
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		var path string
		var owner int
		var states, reads int
		var needMs, token uint64
		line := input.Text()
		if _, err := fmt.Sscanf(line, "open %s", &path); err == nil {
			flag, err = leaderflag.Open(path)
			fmt.Printf("{\"error\": %q}\n", kindOf(err))
		} else if _, err := fmt.Sscanf(line, "open_of %d %s", &owner, &path); err == nil {
			flag, err = leaderflag.OpenOf(path, owner)
			fmt.Printf("{\"error\": %q}\n", kindOf(err))
		} else if _, err := fmt.Sscanf(line, "watch %d %d", &states, &reads); err == nil {
			watch(flag, states, reads)
		} else if _, err := fmt.Sscanf(line, "begin %d", &needMs); err == nil {
			begin(flag, time.Duration(needMs)*time.Millisecond)
		} else if _, err := fmt.Sscanf(line, "still %d", &token); err == nil {
			fmt.Printf("{\"still\": %t}\n", flag.Still(token))
		} else {
			printSnapshot(flag.Read())
		}
	}
}

func kindOf(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, os.ErrNotExist):
		return "missing"
	case errors.Is(err, leaderflag.ErrNotReady):
		return "not ready"
	case errors.Is(err, leaderflag.ErrNotAFlag):
		return "not a flag"
	case errors.Is(err, leaderflag.ErrUnknownVersion):
		return "unknown version"
	case errors.Is(err, leaderflag.ErrNotTrusted):
		return "not trusted"
	}
	return "another"
}

func printSnapshot(seen leaderflag.Snapshot) {
	id := seen.LeaderID
	fmt.Printf("{\"role\": %d, \"epoch\": %d, \"fencing_token\": %d, \"valid_until_ns\": %d, ",
		seen.Role, seen.Epoch, seen.FencingToken, seen.ValidUntilNs)
	fmt.Printf("\"leader_id\": \"%x-%x-%x-%x-%x\", ", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	fmt.Printf("\"guard\": %d, \"seq\": %d, \"is_sidecar_alive\": %t}\n", seen.Guard, seen.Seq,
		seen.IsSidecarAlive)
}

func begin(flag *leaderflag.Flag, need time.Duration) {
	if token, leads := flag.Begin(need); leads {
		fmt.Printf("{\"token\": %d}\n", token)
	} else {
		fmt.Println("{\"token\": null}")
	}
}

func isTorn(seen leaderflag.Snapshot) bool {
	id := [2]uint64{seen.Epoch * 0x9e3779b97f4a7c15, ^seen.Epoch}
	token := uint64(0)
	if seen.Epoch%2 == 1 {
		token = seen.Epoch
	}
	return *(*[16]byte)(unsafe.Pointer(&id)) != seen.LeaderID ||
		(seen.Role == leaderflag.Leader) != (token != 0) || seen.FencingToken != token
}

func watch(flag *leaderflag.Flag, maxStates, maxReads int) {
	states, torn, reads := 0, 0, 0
	for states < maxStates && reads < maxReads {
		seen := flag.Read()
		reads++
		if seen.Role == leaderflag.Unknown {
			continue
		}
		states++
		if isTorn(seen) {
			torn++
		}
	}
	fmt.Printf("{\"states\": %d, \"torn\": %d, \"reads\": %d}\n", states, torn, reads)
}
