// As lively.c.
package main

import (
	"net/http"
	"os"
	"time"

	"example.org/bellwether/attachment"
)

func main() {
	well := http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		answer.WriteHeader(http.StatusNoContent)
	})
	go func() { panic(http.ListenAndServe("127.0.0.1:"+os.Args[3], well)) }()
	for {
		mine, err := attachment.Open(os.Args[1], os.Args[2], nil)
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		for range mine.Events() {
		}
		os.Exit(1)
	}
}
